// A tab on a page, which fails the test on whatever the page should not do: an error, a word on the console, a request.
import { chromium, type BrowserContext, type Page } from 'playwright-core';
import { expect, inject } from 'vitest';

// Test files that one worker runs share a context and its tabs: a new tab costs a process.
const shared = globalThis as typeof globalThis & { context?: Promise<BrowserContext>; idle?: Page[] };
const idle = (shared.idle ??= []);

async function newContext(): Promise<BrowserContext> {
  const browser = await chromium.connect(inject('browser'));
  const context = await browser.newContext();
  // A page from disk may not use the clipboard in a browser without a window.
  await context.addInitScript(() => {
    const copy = (text: string) => {
      (window as unknown as { copied: string }).copied = text;
      return Promise.resolve();
    };
    Object.defineProperty(navigator, 'clipboard', { value: { writeText: copy } });
  });
  return context;
}

export interface Tab {
  page: Page;
  complaints: string[];
  copied: () => Promise<string>;
}

interface Options {
  width?: number;
  height?: number;
  dark?: boolean;
}

// `there`: what to wait for.
export async function open(address: string, { width = 1400, height = 900, dark = false }: Options = {}, there = 'main'): Promise<Tab> {
  const context = await (shared.context ??= newContext());
  const page = idle.pop() ?? (await context.newPage());
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => /^(file|about):/.test(request.url()) || complaints.push(`request: ${request.url()}`));
  await page.goto(address);
  if (there) await page.waitForSelector(there);
  return { page, complaints, copied: () => page.evaluate(() => (window as unknown as { copied: string }).copied) };
}

// What a test ends with. The tab of one that fails is not used again.
export async function close({ page, complaints }: Tab): Promise<void> {
  expect(complaints).toEqual([]);
  page.removeAllListeners();
  // The next test may open the same file, which must be loaded anew.
  await page.goto('about:blank');
  idle.push(page);
}
