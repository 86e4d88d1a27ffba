import { expect, test } from 'vitest';
import { largeReport } from '../made/large';
import { pageOf } from '../made/page';
import { report, violation } from '../made/report';
import { close, open } from '../made/tab';

const mixed = report({
  violations: [
    violation(1, { rule: 'host-sync', location: { file: 'b/two.cpp', line: 7, function: 'f()' }, thread: 'main', count: 3, blocked_us: 10 }),
    violation(2, { rule: 'sync-copy', severity: 'warning', location: { file: 'a/one.cpp', line: 9, function: 'g()' }, thread: 'worker', count: 9 }),
    violation(3, { rule: 'sync-copy', location: { file: 'a/one.cpp', line: 2, function: 'h()' }, thread: 'worker', blocked_us: 99, message: 'a copy of the needle' }),
    violation(4, { rule: 'lazy-load', severity: 'note', location: { file: 'b/two.cpp', line: 1, function: 'f()' }, phase: 'warmup' }),
    violation(5, { rule: 'host-sync', location: { file: 'c.py', line: 1, function: 'step' }, suppressed: { reason: 'a checkpoint', origin: 'c.py:1' } }),
  ],
});
const address = pageOf(mixed);

const places = (tab: Awaited<ReturnType<typeof open>>) => tab.page.locator('.row .where').allTextContents();

test('facets narrow the list, count what is left, and combine', async () => {
  const tab = await open(`${address}#findings`);
  const { page } = tab;
  await expect.poll(() => page.locator('.row').count()).toBe(5);
  const facet = (name: string) => page.locator('fieldset', { has: page.locator(`legend:text-is("${name}")`) });
  await facet('Rule').locator('label', { hasText: 'sync-copy' }).locator('input').check();
  await expect.poll(() => page.locator('.row').count()).toBe(2);
  await expect.poll(() => facet('Severity').locator('label', { hasText: 'warning' }).locator('.count').textContent()).toBe('1');
  // The other values of a chosen facet still say what they would bring.
  await expect.poll(() => facet('Rule').locator('label', { hasText: 'lazy-load' }).locator('.count').textContent()).toBe('1');
  await facet('Severity').locator('label', { hasText: 'error' }).locator('input').check();
  await expect.poll(() => places(tab)).toEqual(['a/one.cpp:2']);
  await expect.poll(() => page.textContent('.kept')).toBe('1 of 5 findings');
  await page.click('text=Show all');
  await expect.poll(() => page.locator('.row').count()).toBe(5);
  await facet('State').locator('label', { hasText: 'allowed' }).locator('input').check();
  await expect.poll(() => places(tab)).toEqual(['c.py:1']);
  await close(tab);
});

test('free text, sorting and grouping', async () => {
  const tab = await open(`${address}#findings`);
  const { page } = tab;
  await page.fill('#search', 'NEEDLE copy');
  await expect.poll(() => places(tab)).toEqual(['a/one.cpp:2']);
  await page.fill('#search', 'no such word');
  await expect.poll(() => page.locator('.row').count()).toBe(0);
  await expect.poll(() => page.textContent('.list .empty')).toContain('Nothing matches');
  await page.fill('#search', '');
  await page.selectOption('.choose:has-text("Sort") select', 'place');
  await expect.poll(() => places(tab)).toEqual(['a/one.cpp:2', 'a/one.cpp:9', 'b/two.cpp:1', 'b/two.cpp:7', 'c.py:1']);
  await page.selectOption('.choose:has-text("Sort") select', 'blocked');
  expect((await places(tab))[0]).toBe('a/one.cpp:2');
  await page.selectOption('.choose:has-text("Sort") select', 'count');
  expect((await places(tab))[0]).toBe('a/one.cpp:9');
  await page.selectOption('.choose:has-text("Group") select', 'rule');
  await expect.poll(() => page.locator('.group').allTextContents()).toEqual(['sync-copy 2', 'host-sync 2', 'lazy-load 1']);
  await close(tab);
});

test('the address holds the whole state', async () => {
  const tab = await open(`${address}#findings`);
  const { page } = tab;
  await page.locator('label', { hasText: 'sync-copy' }).locator('input').check();
  await page.fill('#search', 'cpp');
  await page.selectOption('.choose:has-text("Group") select', 'file');
  await page.click('.row >> nth=1');
  const there = page.url();
  expect(there).toContain('rule=sync-copy');
  const again = await open(there);
  await expect.poll(() => again.page.inputValue('#search')).toBe('cpp');
  await expect.poll(() => again.page.locator('label', { hasText: 'sync-copy' }).locator('input').isChecked()).toBe(true);
  await expect.poll(() => again.page.locator('.group').count()).toBe(1);
  await expect.poll(() => again.page.textContent('#detail-title')).toBe(await page.textContent('#detail-title'));
  await close(again);
  await page.goBack();
  await page.waitForSelector('.choose-one');
  await page.goto(`${address}#nonsense?sort=none&node=x&rule=`);
  await page.waitForSelector('.overview');
  await close(tab);
});

test('of thousands of findings at most 300 rows are in the page, wherever one scrolls', async () => {
  const tab = await open(`${pageOf(largeReport(3000, 800))}#findings`, { height: 1400 });
  const { page } = tab;
  await expect.poll(() => page.textContent('.kept')).toBe('3,000 findings');
  for (const part of [0, 0.3, 0.999]) {
    await page.evaluate((at) => {
      const list = document.querySelector('.rows')!;
      list.scrollTop = list.scrollHeight * at;
    }, part);
    await page.waitForFunction(() => {
      const list = document.querySelector('.rows')!.getBoundingClientRect();
      const seen = [...document.querySelectorAll('.row')].map((row) => row.getBoundingClientRect()).filter((row) => row.top < list.bottom && row.bottom > list.top);
      return seen.length > 10;
    });
    await expect.poll(() => page.locator('li').count()).toBeLessThan(300);
  }
  await expect.poll(() => page.locator('.row >> nth=-1').textContent()).toContain('layer_');
  await close(tab);
});
