// One browser for all test files.
import type { TestProject } from 'vitest/node';
import { startServer } from '../../build/browser.mjs';

declare module 'vitest' {
  export interface ProvidedContext {
    browser: string;
  }
}

export default async function setup(project: TestProject) {
  const server = await startServer();
  project.provide('browser', server.wsEndpoint());
  return () => server.close();
}
