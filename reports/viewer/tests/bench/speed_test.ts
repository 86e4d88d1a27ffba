// How quick the page is with ten thousand findings and a graph of five thousand nodes. What is measured is the time that
// the page's main thread works, parsing, script, layout and paint together: other work on the machine does not count.
import { statSync } from 'node:fs';
import type { CDPSession } from 'playwright-core';
import { expect, test } from 'vitest';
import { largeReport } from '../made/large';
import { pageOf } from '../made/page';
import { close, open, type Tab } from '../made/tab';

const limits = { 'first screen': 1000, 'filter by text': 50, 'filter by facet': 50, 'scroll the list': 8, 'scroll the graph': 8 };
const address = pageOf(largeReport(10_000, 5000));

// The worst of a few must keep the limit, one that the engine's own housekeeping met aside.
function say(name: keyof typeof limits, times: number[]): void {
  const sorted = [...times].sort((a, b) => b - a);
  const counted = sorted[times.length > 3 ? 1 : 0]!;
  console.log(`${name}: ${counted.toFixed(1)} ms (limit ${limits[name]} ms; worst first: ${sorted.slice(0, 8).map((time) => time.toFixed(1)).join(', ')})`);
  expect(counted, name).toBeLessThanOrEqual(limits[name]);
}

async function session({ page }: Tab): Promise<CDPSession> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  return devtools;
}

// Milliseconds of work since the page was opened.
async function worked(devtools: CDPSession): Promise<number> {
  const { metrics } = await devtools.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')!.value * 1000;
}

const twoFrames = () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));

test('the first screen', async () => {
  console.log(`the page: ${(statSync(new URL(address)).size / 1e6).toFixed(1)} MB`);
  const times: number[] = [];
  for (let i = 0; i < 3; ++i) {
    const tab = await open('about:blank', {}, '');
    const devtools = await session(tab);
    const before = await worked(devtools);
    await tab.page.goto(address);
    await tab.page.waitForSelector('.headline');
    await tab.page.evaluate(twoFrames);
    times.push((await worked(devtools)) - before);
    await close(tab);
  }
  say('first screen', times);
});

test('filtering', async () => {
  const tab = await open(`${address}#findings`);
  const devtools = await session(tab);
  const measure = async (act: () => Promise<unknown>) => {
    await tab.page.evaluate(twoFrames);
    const before = await worked(devtools);
    await act();
    await tab.page.evaluate(twoFrames);
    return (await worked(devtools)) - before;
  };
  const texts: number[] = [];
  await tab.page.focus('#search');
  for (const key of ['w', 'a', 'i', 't', 's', ' ', '1', '2', '8'])
    texts.push(await measure(() => tab.page.keyboard.press(key === ' ' ? 'Space' : key)));
  say('filter by text', texts);
  await tab.page.fill('#search', '');
  const facets: number[] = [];
  for (let i = 0; i < 8; ++i) facets.push(await measure(() => tab.page.locator('fieldset input').nth(i).evaluate((box: HTMLInputElement) => box.click())));
  say('filter by facet', facets);
  await close(tab);
});

interface TraceEvent {
  name: string;
  tdur?: number;
  args: { data?: { type?: string } };
}

async function scrolling(view: string, list: string): Promise<number[]> {
  const tab = await open(`${address}#${view}`);
  // Every node is a row.
  if (view === 'graph') await tab.page.click('text=Fold repeated layers');
  await tab.page.waitForSelector(`${list} li`);
  const devtools = await tab.page.context().newCDPSession(tab.page);
  const events: TraceEvent[] = [];
  devtools.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  await devtools.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: ['devtools.timeline'] } });
  await tab.page.evaluate(async (selector) => {
    const box = document.querySelector(selector)!;
    for (let step = 0; step < 120; ++step) {
      box.scrollTop += step % 10 === 9 ? 20_000 : 130;
      await new Promise((done) => requestAnimationFrame(done));
    }
  }, list);
  const complete = new Promise((done) => devtools.once('Tracing.tracingComplete', done));
  await devtools.send('Tracing.end');
  await complete;
  await close(tab);
  const times = events.filter(({ name, args }) => name === 'EventDispatch' && args.data?.type === 'scroll').map(({ tdur = NaN }) => tdur / 1000);
  expect(times.length).toBeGreaterThan(60);
  return times;
}

test('scrolling the list', async () => say('scroll the list', await scrolling('findings', '.rows')));

test('scrolling the graph', async () => say('scroll the graph', await scrolling('graph', '.graph-rows')));
