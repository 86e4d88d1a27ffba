import { expect, test } from 'vitest';
import { pageOf } from '../made/page';
import { report, violation } from '../made/report';
import { close, open } from '../made/tab';

test('a page with a baseline shows what is new, fixed and still there', async () => {
  const elsewhere = (name: string) => ({ location: { file: 'engine/decode.cpp', line: 11, function: name } }); // or it would be an edit of the other
  const now = report({ violations: [violation(1, elsewhere('fresh()')), violation(2), violation(9, { severity: 'note' })] });
  const before = report({ violations: [violation(2), violation(3, elsewhere('gone()'))] });
  const tab = await open(pageOf(now, before));
  const { page } = tab;
  const figures = (await page.textContent('.figures'))!;
  expect(figures).toContain('1 new since the baseline');
  expect(figures).toContain('1 known to the baseline');
  expect(figures).toContain('1 fixed since the baseline');
  await page.click('nav >> text=Compared');
  const part = (title: string) => page.locator('section.compared', { has: page.locator(`h2:has-text("${title}")`) });
  await expect.poll(() => part('New').locator('li').allTextContents()).toEqual([expect.stringContaining('stream s1')]);
  await expect.poll(() => part('Fixed').locator('li').allTextContents()).toEqual([expect.stringContaining('stream s3')]);
  await expect.poll(() => part('Still there').locator('li').allTextContents()).toEqual([expect.stringContaining('stream s2')]);
  await page.click('nav >> text=Findings');
  await page.locator('label', { hasText: 'new' }).locator('input').check();
  await expect.poll(() => page.locator('.row .tag.new').count()).toBe(await page.locator('.row').count());
  await close(tab);
});

test('the first screen begins with what is new, whatever the report has first', async () => {
  const at = (file: string) => ({ location: { file, line: 11, function: 'step()' } });
  const old = violation(1, at('a.cpp'));
  const fresh = violation(2, at('b.cpp'));
  const tab = await open(pageOf(report({ violations: [old, fresh] }), report({ violations: [old] })));
  const { page } = tab;
  await expect.poll(() => page.textContent('.headline .verdict')).toBe('Fail');
  await expect.poll(() => page.textContent('.headline h1')).toContain('b.cpp:11');
  await expect.poll(() => page.textContent('.first-cause .step')).toBe('Start here');
  await expect.poll(() => page.textContent('.first-cause .place')).toContain('b.cpp:11');
  await expect.poll(() => page.locator('.first-cause .tag.new').count()).toBe(1);
  await expect.poll(() => page.locator('.next .tag.known').count()).toBe(1);
  await close(tab);
});

test('where all errors are known the page passes, as the gate does, and says what is left', async () => {
  const same = () => report({ violations: [violation(1), violation(9, { severity: 'note' })] });
  const tab = await open(pageOf(same(), same()));
  const { page } = tab;
  await expect.poll(() => page.textContent('.headline .verdict')).toBe('Pass');
  await expect.poll(() => page.textContent('.bar .badge')).toBe('Pass');
  expect((await page.textContent('.headline h1'))!).toContain('no new error, 1 known error');
  expect((await page.textContent('body'))!).not.toContain('CAPTURE DIES');
  const figures = (await page.textContent('.figures'))!;
  expect(figures).toContain('0 new since the baseline');
  expect(figures).toContain('1 known to the baseline');
  await expect.poll(() => page.textContent('.first-cause .step')).toBe('Known, and still there');
  await expect.poll(() => page.locator('section:has(#not-proved) li').first().textContent()).toContain('a known error is left');
  await close(tab);
});

test('a page without one has no such part', async () => {
  const tab = await open(pageOf(report()));
  await expect.poll(() => tab.page.locator('nav >> text=Compared').count()).toBe(0);
  await close(tab);
});
