// Debian's Chromium without a window, for tests and screenshots. It has a profile of its own and looks for nothing outside.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const options = {
  executablePath: ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path)),
  headless: true,
  args: [
    '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
  ],
};

export function startBrowser() {
  return chromium.launch(options);
}

export function startServer() {
  return chromium.launchServer(options);
}
