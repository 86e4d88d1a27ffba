import type { Browser, BrowserServer } from 'playwright-core';

export function startBrowser(): Promise<Browser>;
export function startServer(): Promise<BrowserServer>;
