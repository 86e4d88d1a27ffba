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

test('a page without one has no such part', async () => {
  const tab = await open(pageOf(report()));
  await expect.poll(() => tab.page.locator('nav >> text=Compared').count()).toBe(0);
  await close(tab);
});
