// node build/screenshot.mjs PAGE.html OUT.png [#HASH] [--dark] [--size WIDTHxHEIGHT]: what a browser shows of a page.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startBrowser } from './browser.mjs';

const words = process.argv.slice(2);
const take = (name) => {
  const at = words.indexOf(name);
  return at < 0 ? undefined : words.splice(at, 2)[1];
};
const [width, height] = (take('--size') ?? '1280x900').split('x').map(Number);
const dark = words.includes('--dark');
const [page, out, hash = ''] = words.filter((word) => word !== '--dark');
if (!page || !out || !width || !height) {
  console.error('usage: node build/screenshot.mjs PAGE.html OUT.png [#HASH] [--dark] [--size WIDTHxHEIGHT]');
  process.exit(2);
}

const browser = await startBrowser();
const tab = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' });
tab.on('pageerror', (error) => console.error(String(error)));
tab.on('console', (message) => message.type() === 'error' && console.error(message.text()));
await tab.goto(pathToFileURL(resolve(page)).href + hash);
await tab.waitForSelector('main');
await tab.screenshot({ path: out });
await browser.close();
