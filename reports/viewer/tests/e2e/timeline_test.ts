import { expect, test } from 'vitest';
import { forkedCapture } from '../made/graphs';
import { pageOf, recorded } from '../made/page';
import { bar, report, violation } from '../made/report';
import { close, open } from '../made/tab';

const timed = report({
  captures: [forkedCapture()],
  timeline: {
    left_out: 2,
    threads: [
      {
        process: '1', thread: 'main', bars: [
          bar('region', 0, 4000, { name: 'decode' }), bar('capture', 500, 1500, { name: 'bs=8', capture: '1:1' }),
          bar('replay', 2000, 3900, { name: 'bs=8', count: 20, capture: '1:1', busy_us: 0 }),
          bar('wait', 2500, 2600, { name: 'cudaStreamSynchronize', file: 'engine/decode.cpp', line: 11, busy_us: 100 }),
        ],
      },
      { process: '1', thread: 'loader (77)', bars: [bar('wait', 0, 100, { name: 'cudaMemcpy' })] },
    ],
  },
  violations: [violation(1), violation(2, { capture: '1:1' })],
});
const address = pageOf(timed);

test('regions, captures, replays and blocking calls are bars on their threads', async () => {
  const tab = await open(address);
  const { page } = tab;
  await page.click('nav a:has-text("Timeline")');
  await expect.poll(() => page.locator('.times h2').allTextContents()).toEqual(['main thread', 'thread loader (77)']);
  await expect.poll(() => page.locator('.time-row').evaluateAll((rows) => rows.map((row) => row.getAttribute('aria-label')))).toEqual([
    'Regions of main thread', 'Captures of main thread', 'Replays of main thread', 'Blocking calls of main thread', 'Blocking calls of thread loader (77)',
  ]);
  const box = async (text: string) => (await page.locator(`.time-bar:has-text("${text}")`).first().boundingBox())!;
  const region = await box('decode');
  const wait = await box('cudaStreamSynchronize');
  expect(wait.x).toBeGreaterThan(region.x + region.width * 0.6);
  expect(wait.width).toBeLessThan(region.width * 0.05);
  await expect.poll(() => page.locator('.time-bar.replay').textContent()).toBe('bs=8 ×20');
  await expect.poll(() => page.textContent('.capture-line')).toContain('2 shorter events left out');
  await expect.poll(() => page.locator('.time-bar.faulty').count()).toBe(2);
  await close(tab);
});

test('a bar says what it is and leads to its findings and its graph', async () => {
  const tab = await open(`${address}#timeline`);
  const { page } = tab;
  await page.click('.time-bar.wait >> nth=0');
  const panel = page.locator('.panel');
  await expect.poll(() => panel.locator('.facts').textContent()).toContain('engine/decode.cpp:11');
  await panel.locator('text=waits for stream s1').click();
  await page.waitForSelector('.detail h2:has-text("waits for stream s1")');
  await page.goBack();
  await page.click('.time-bar.capture');
  await panel.locator('a:has-text("Show the graph, 18 nodes")').click();
  await page.waitForSelector('.graph-rows');
  await close(tab);
});

test('ranks are in their order, and only what is drawn has a legend', async () => {
  const { coverage } = report();
  const process = (pid: number, rank: number) => ({ pid, rank, argv0: 'decode', attached: true, events: 1, events_dropped: 0 });
  const thread = (pid: number) => ({ process: String(pid), thread: 'main', bars: [bar('region', 0, 4000, { name: 'decode' }), bar('wait', 100, 101, { name: 'cudaStreamSynchronize' })] });
  const tab = await open(`${pageOf(report({ coverage: { ...coverage, processes: [process(9, 1), process(7, 0)] }, timeline: { left_out: 0, threads: [thread(9), thread(7)] } }))}#timeline`);
  const { page } = tab;
  await expect.poll(() => page.locator('.times h2').allTextContents()).toEqual(['rank 0, main thread', 'rank 1, main thread']);
  expect((await page.locator('.legend li').allTextContents()).map((text) => text.trim())).toEqual(['Regions', 'Blocking calls']);
  // A bar that is narrower than its name's beginning has no text.
  await expect.poll(() => page.locator('.time-bar.wait span').first().isVisible()).toBe(false);
  await expect.poll(() => page.locator('.time-bar.region span').first().isVisible()).toBe(true);
  await page.click('.time-bar.wait >> nth=0');
  await expect.poll(() => page.locator('.panel .facts').textContent()).toContain('from100 µsto101 µs');
  await page.goto(`${page.url().split('#')[0]}#run`);
  await expect.poll(() => page.locator('.table:has(caption:text-is("Processes")) tbody td:nth-child(2)').allTextContents()).toEqual(['0', '1']);
  await close(tab);
});

test('zooming makes the bars wider', async () => {
  const tab = await open(`${address}#timeline`);
  const { page } = tab;
  const width = async () => (await page.locator('.time-bar.region').boundingBox())!.width;
  const before = await width();
  await page.click('button:has-text("Zoom in")');
  await expect.poll(() => width()).toBeGreaterThan(1.9 * before);
  await page.click('button:has-text("Zoom out")');
  await expect.poll(() => width()).toBeCloseTo(before, 0);
  await expect.poll(() => page.isDisabled('button:has-text("Zoom out")')).toBe(true);
  await close(tab);
});

test('an older report has no timeline, and the page says so', async () => {
  const tab = await open(`${pageOf(report())}#timeline`);
  await expect.poll(() => tab.page.locator('nav a:has-text("Timeline")').count()).toBe(0);
  await expect.poll(() => tab.page.textContent('main .empty')).toBe('The report has no times.');
  await close(tab);
});

test('the timeline of a recorded run', async () => {
  const tab = await open(`${pageOf(recorded('healthy/llama_layer.healthy.json'))}#timeline`);
  await expect.poll(() => tab.page.locator('.time-bar.capture').count()).toBeGreaterThan(0);
  await expect.poll(() => tab.page.locator('.time-bar.replay').count()).toBeGreaterThan(0);
  await close(tab);
});
