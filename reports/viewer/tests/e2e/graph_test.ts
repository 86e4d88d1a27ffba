import { expect, test } from 'vitest';
import { forkedCapture, layeredCapture } from '../made/graphs';
import { pageOf, recorded } from '../made/page';
import { capture, chain, node, report, violation } from '../made/report';
import { close, open } from '../made/tab';

const forked = report({
  captures: [forkedCapture(), capture('1:2', { result: 'failed:900 (cudaErrorStreamCaptureUnsupported)', replays: 0 })],
  violations: [
    violation(1, { rule: 'pageable-copy', capture: '1:1', message: 'a copy keeps the address of pageable memory' }),
    violation(2, { rule: 'host-node', severity: 'warning', capture: '1:1', message: 'a host function runs in each replay' }),
    violation(3, { rule: 'escaped-work', capture: '1:1', stream: 's7', api: 'cudaLaunchKernel', message: 'kernel sample<> went to s7', details: { 'outside 1': 'kernel sample<> at a.cpp:3' } }),
    violation(4, { capture: '1:2', message: 'the wait killed the capture' }),
  ],
});
const address = pageOf(forked);

test('lanes by stream, forks and joins, kinds and faulty nodes', async () => {
  const tab = await open(`${address}#graph`);
  const { page } = tab;
  await expect.poll(() => page.locator('.streams li').allTextContents()).toEqual(['1: s0', '2: s1']);
  const left = async (row: number) => parseFloat((await page.locator('.node .at').nth(row).getAttribute('style'))!.replace(/[^\d.]/g, ''));
  await expect.poll(() => left(2)).toBeGreaterThan(await left(1));
  await expect.poll(() => left(3)).toBe(await left(1));
  const across = (await page.getAttribute('.lanes .across', 'd'))!;
  expect(across.match(/M/g)!.length).toBe(2); // one fork, one join
  await expect.poll(() => page.locator('.node .dot.host.faulty').count()).toBe(1);
  await expect.poll(() => page.locator('.node.faulty').allTextContents()).toEqual([expect.stringContaining('pageable'), expect.stringContaining('on_token')]);
  await expect.poll(() => page.locator('.legend').textContent()).toContain('memcpy × 1');
  await close(tab);
});

test('a node shows its parameters, its neighbours and its faults', async () => {
  const tab = await open(`${address}#graph`);
  const { page } = tab;
  await page.click('.node:has-text("pageable")');
  const panel = page.locator('.panel');
  await expect.poll(() => panel.locator('.facts').textContent()).toContain('64 bytes pageable to device');
  await expect.poll(() => panel.textContent()).toContain('Findings of this node');
  await expect.poll(() => panel.locator('.links').first().locator('a').allTextContents()).toEqual(['2 kernel', '3 kernel']);
  await panel.locator('.links a >> nth=0').click();
  await expect.poll(() => panel.textContent()).toContain('shared_expert');
  expect(page.url()).toContain('node=2');
  await panel.locator('text=went to s7').click();
  await page.waitForSelector('.detail h2:has-text("went to s7")');
  await page.click('.detail a:has-text("Show capture")');
  await page.waitForSelector('.graph-rows');
  await close(tab);
});

test('the nodes that the report names are marked, in every graph that has them', async () => {
  const address = pageOf(report({
    captures: [layeredCapture('1:1', 2), layeredCapture('1:2', 2)],
    violations: [violation(1, { rule: 'freed-memory', capture: '1:1', message: 'frees what the graphs use', nodes: [{ capture: '1:1', ids: [2, 5] }, { capture: '1:2', ids: [7] }] })],
  }));
  const tab = await open(`${address}#graph?in=1%3A2`);
  const { page } = tab;
  await page.uncheck('text=Fold repeated layers');
  await expect.poll(() => page.locator('.node.faulty .number').allTextContents()).toEqual(['7']);
  await page.click('.node.faulty');
  await expect.poll(() => page.textContent('.panel')).toContain('frees what the graphs use');
  await page.selectOption('.capture-line select', '1:1');
  await page.waitForSelector('.node.faulty >> nth=1');
  await expect.poll(() => page.locator('.node.faulty .number').allTextContents()).toEqual(['2', '5']);
  await close(tab);
});

test('work that is in no graph is drawn beside it', async () => {
  const tab = await open(`${address}#graph`);
  const outside = tab.page.locator('.outside');
  await expect.poll(() => outside.textContent()).toContain('Not in this graph');
  await expect.poll(() => outside.locator('.work').textContent()).toContain('kernel sample<> at a.cpp:3 on s7');
  await close(tab);
});

test('a repeated layer is shown once and opens', async () => {
  const tab = await open(`${pageOf(report({ captures: [layeredCapture('1:1', 61)] }))}#graph`);
  const { page } = tab;
  await expect.poll(() => page.textContent('.toolbar [role=status]')).toBe('488 nodes, 480 of them folded');
  await expect.poll(() => page.locator('.node').count()).toBe(9);
  await page.click('.node.folded');
  await expect.poll(() => page.textContent('.toolbar [role=status]')).toBe('488 nodes');
  await page.click('text=Fold repeated layers');
  await page.click('text=Fold repeated layers');
  await expect.poll(() => page.locator('.node').count()).toBe(9);
  await close(tab);
});

test('j and k walk over the nodes; a folded node that a link names is shown', async () => {
  const tab = await open(`${address}#graph`);
  const { page } = tab;
  await page.keyboard.press('j');
  await page.waitForSelector('.node.open:has-text("embed")');
  await page.keyboard.press('j');
  await page.waitForSelector('.node.open:has-text("router")');
  await page.keyboard.press('k');
  await page.waitForSelector('.node.open:has-text("embed")');
  await page.keyboard.press('Escape');
  await expect.poll(() => page.locator('.node.open').count()).toBe(0);
  await page.selectOption('.capture-line select', '1:2');
  await expect.poll(() => page.textContent('.graph .empty')).toBe('There is no graph: the capture failed with 900 (cudaErrorStreamCaptureUnsupported).');
  await expect.poll(() => page.textContent('.panel')).toContain('the wait killed the capture');
  await close(tab);
});

test('a graph that goes in a circle says so and is drawn all the same', async () => {
  const nodes = [node(0), node(1), node(2)];
  const tab = await open(`${pageOf(report({ captures: [capture('1:1', { nodes, edges: [...chain(3), [2, 0]] })] }))}#graph`);
  await expect.poll(() => tab.page.textContent('.drawing .caution')).toContain('its edges go in a circle');
  await expect.poll(() => tab.page.locator('.node').count()).toBe(3);
  await close(tab);
});

test('the graph of a recorded run', async () => {
  const tab = await open(`${pageOf(recorded('healthy/llama_layer.healthy.json'))}#graph`);
  await expect.poll(() => tab.page.textContent('.toolbar [role=status]')).toContain('67 nodes');
  await close(tab);
});
