// Keyboard, themes, contrast, paper.
import axe from 'axe-core';
import { expect, test } from 'vitest';
import { forkedCapture } from '../made/graphs';
import { pageOf, recorded } from '../made/page';
import { bar, report, violation } from '../made/report';
import { close, open, type Tab } from '../made/tab';

const made = report({
  captures: [forkedCapture()],
  timeline: {
    left_out: 1,
    threads: [{ process: '1', thread: 'main', bars: [bar('region', 0, 90), bar('capture', 1, 20, { capture: '1:1' }), bar('replay', 30, 80, { count: 3 }), bar('wait', 40, 60)] }],
  },
  reasons: [{ text: 'a capture was left open', remedy: 'capgate audit -- ./decode' }],
  violations: [
    violation(1, { capture: '1:1', source: [{ line: 11, text: 'wait();' }] }), violation(2, { severity: 'warning' }), violation(3, { severity: 'note' }),
    violation(4, { suppressed: { reason: 'meant', origin: 'a.cpp:1' } }), violation(5, { rule: 'escaped-work', capture: '1:1', stream: 's9' }),
  ],
});
const address = pageOf(made, report({ violations: [violation(2), violation(7)] }));

const views = ['overview', 'findings', 'findings?id=0000000000000001', 'graph?node=4', 'timeline', 'compared', 'run'];

async function faults({ page }: Tab, only: 'everything' | 'colours'): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  return page.evaluate(async (what) => {
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(document, {
      runOnly: what === 'colours' ? { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } : ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`);
  }, only);
}

// The themes differ in nothing but colours.
test.each([['everything', false], ['colours', true]] as const)('axe finds nothing: %s (dark: %j)', async (only, dark) => {
  const tab = await open(address, { dark });
  for (const view of views) {
    await tab.page.goto(`${address}#${view}`);
    await tab.page.waitForSelector('main');
    expect(await faults(tab, only), view).toEqual([]);
  }
  await tab.page.keyboard.press('?');
  expect(await faults(tab, only), 'help').toEqual([]);
  await close(tab);
});

test.each([360, 800, 1600])('nothing is wider than a window of %d pixels', async (width) => {
  const tab = await open(address, { width });
  for (const view of views) {
    await tab.page.goto(`${address}#${view}`);
    await tab.page.waitForSelector('main');
    expect(await tab.page.evaluate(() => document.documentElement.scrollWidth), view).toBeLessThanOrEqual(width);
    const outside = await tab.page.locator('nav a').evaluateAll((links, most) => links.filter((link) => link.getBoundingClientRect().right > most || link.scrollWidth > link.clientWidth).length, width);
    expect(outside, `parts that cannot be reached from ${view}`).toBe(0);
    // What scrolls by itself leaves nothing below the window.
    if (/^(findings|graph|timeline)/.test(view)) expect(await tab.page.evaluate(() => document.documentElement.scrollHeight), view).toBeLessThanOrEqual(900);
  }
  await close(tab);
});

test('the keys', async () => {
  const tab = await open(address);
  const { page } = tab;
  await page.keyboard.press('?');
  await expect.poll(() => page.textContent('dialog')).toContain('search the findings');
  await page.keyboard.press('Escape');
  await expect.poll(() => page.locator('dialog').count()).toBe(0);
  await page.keyboard.press('Enter');
  const first = await page.textContent('#detail-title');
  expect(first).not.toBe('');
  await page.keyboard.press('j');
  await expect.poll(() => page.textContent('#detail-title')).not.toBe(first);
  await page.keyboard.press('k');
  await expect.poll(() => page.textContent('#detail-title')).toBe(first);
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('detail-title');
  await page.keyboard.press('Escape');
  await expect.poll(() => page.locator('.detail').count()).toBe(0);
  await page.keyboard.press('/');
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('search');
  await page.keyboard.type('s2?j');
  await expect.poll(() => page.inputValue('#search')).toBe('s2?j');
  await page.keyboard.press('Escape');
  await expect.poll(() => page.inputValue('#search')).toBe('');
  await close(tab);
});

test('the theme follows the system until one is chosen, and the choice stays', async () => {
  const tab = await open(address, { dark: true });
  const { page } = tab;
  const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await back();
  await page.click('button[aria-label^="Theme"]');
  const light = await back();
  expect(light).not.toBe(dark);
  await page.reload();
  await page.waitForSelector('main');
  await expect.poll(() => back()).toBe(light);
  await page.click('button[aria-label^="Theme"]');
  await expect.poll(() => back()).toBe(dark);
  await page.evaluate(() => localStorage.clear());
  await close(tab);
});

test('on paper every finding stands with its source and fix, and nothing to click', async () => {
  const tab = await open(`${pageOf(recorded('python/deepseek_v4_step.faulty.json'))}#findings`, { dark: true });
  const { page } = tab;
  const pdf = await page.pdf();
  expect(pdf.length).toBeGreaterThan(20_000);
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page.emulateMedia({ media: 'print' });
  await expect.poll(() => page.locator('.printed article').count()).toBe(6);
  await expect.poll(() => page.locator('.printed .source .here').count()).toBe(6);
  await expect.poll(() => page.locator('button:visible').count()).toBe(0);
  await expect.poll(() => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe('light');
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await page.emulateMedia({ media: 'screen' });
  await page.waitForSelector('.bar');
  await close(tab);
});
