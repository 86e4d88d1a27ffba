// Pages for tests: made by the program from a report, or put together from data that the program would refuse.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { gunzipSync } from 'node:zlib';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

export const root = resolve(import.meta.dirname, '../../../..');
export const capgate = process.env.CAPGATE ?? join(root, 'build/release/bin/capgate');
const template = process.env.CAPGATE_PAGE_TEMPLATE ?? join(root, 'reports/viewer/dist/page.html');
const folder = mkdtempSync(join(tmpdir(), 'capgate-page-'));
let made = 0;

export function recorded(name: string): string {
  return join(root, 'tests/traces', name);
}

export function written(report: unknown): string {
  const path = join(folder, `${++made}.json`);
  writeFileSync(path, typeof report === 'string' ? report : JSON.stringify(report));
  return path;
}

// The address of the page of a report, which is a file or an object.
export function pageOf(report: unknown, baseline?: unknown): string {
  const file = (of: unknown) => (typeof of === 'string' ? of : written(of));
  const out = join(folder, `${++made}.html`);
  const more = baseline === undefined ? [] : ['--baseline', file(baseline)];
  execFileSync(capgate, ['view', file(report), '--out', out, ...more], { stdio: ['ignore', 'ignore', 'inherit'] });
  return pathToFileURL(out).href;
}

// The data of a page as JSON.
export function dataOf(address: string): string {
  const text = readFileSync(new URL(address), 'utf8');
  const begin = '<script type="application/json" id="capgate-data">';
  const at = text.indexOf(begin) + begin.length;
  const data = text.slice(at, text.indexOf('</script>', at));
  return data.startsWith('{') ? data : gunzipSync(Buffer.from(data, 'base64')).toString('utf8');
}

// A page with any text in the place of its data.
export function pageWith(data: string): string {
  const out = join(folder, `${++made}.html`);
  writeFileSync(out, readFileSync(template, 'utf8').replace('@CAPGATE_PAGE_DATA@', () => data));
  return pathToFileURL(out).href;
}
