import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pageOf, recorded, root } from '../made/page';
import { report, violation } from '../made/report';
import { close, open } from '../made/tab';

test('the first screen of a recorded audit names the line to change, why, the fix and how to allow it', async () => {
  const tab = await open(pageOf(recorded('python/deepseek_v4_step.faulty.json')));
  const { page } = tab;
  await expect.poll(() => page.textContent('.headline .verdict')).toBe('Fail');
  expect((await page.textContent('.headline h1'))!.length).toBeGreaterThan(10);
  const facts = (await page.textContent('.short-facts'))!;
  for (const fact of ['deepseek_v4_step.py', 'NVIDIA H200', 'driver 580.159.04', 'CUDA 13.0', 'Python 3.12.3', 'region "decode-step" seen 4 times'])
    expect(facts).toContain(fact);
  await expect.poll(() => page.textContent('.figures')).toContain('2 causes to fix');
  const first = page.locator('.first-cause');
  await expect.poll(() => first.locator('.place').textContent()).toContain('transformers/');
  const marked = first.locator('.source .here');
  await expect.poll(() => marked.count()).toBe(1);
  const line = /:(\d+)/.exec((await first.locator('.place').textContent())!)![1];
  await expect.poll(() => marked.locator('th').textContent()).toContain(line);
  await expect.poll(() => first.locator('.fix p').textContent()).not.toBe('');
  expect((await first.locator('text=Why').count())).toBeGreaterThan(0);
  await first.locator('summary').click();
  await expect.poll(() => first.locator('.allow').textContent()).toContain('# capgate-allow(host-sync): ');
  await expect.poll(() => page.locator('.next li').count()).toBe(1);
  // All of it can be seen without scrolling on an ordinary screen.
  const box = (await first.locator('.fix').boundingBox())!;
  expect(box.y + box.height).toBeLessThan(900);
  await close(tab);
});

test('a pass says what it proves and what it does not', async () => {
  const tab = await open(pageOf(recorded('healthy/llama_layer.healthy.json')));
  await expect.poll(() => tab.page.textContent('.headline .verdict')).toBe('Pass');
  await expect.poll(() => tab.page.locator('.first-cause').count()).toBe(0);
  await expect.poll(() => tab.page.locator('section:has(#proved) li').count()).toBeGreaterThan(0);
  await close(tab);
});

test('a warning to begin with reads like an error to begin with', async () => {
  const looks = async (severity: 'error' | 'warning') => {
    const tab = await open(pageOf(report({ violations: [violation(1, { severity })] })));
    const look = await tab.page.locator('.first-cause').evaluate((card) => [card, card.querySelector('h2')!, card.querySelector('.fix p')!].map((part) => {
      const { color, backgroundColor } = getComputedStyle(part);
      return { color, backgroundColor };
    }));
    const sizes = await tab.page.locator('.first-cause .actions > *').evaluateAll((parts) => parts.map((part) => getComputedStyle(part).fontSize));
    expect(new Set(sizes).size).toBe(1);
    await close(tab);
    return look;
  };
  await expect.poll(() => looks('warning')).toEqual(await looks('error'));
});

test('an inconclusive report names the command that would prove it', async () => {
  const tab = await open(pageOf(report({ reasons: [{ text: 'no capture was completed', remedy: 'capgate audit -- ./decode' }] })));
  await expect.poll(() => tab.page.textContent('.headline .verdict')).toBe('Inconclusive');
  const open_ = tab.page.locator('section:has(#not-proved)');
  await expect.poll(() => open_.textContent()).toContain('no capture was completed');
  await open_.locator('button').first().click();
  await expect.poll(() => tab.copied()).toBe('capgate audit -- ./decode');
  await close(tab);
  const many = await open(pageOf(report({
    reasons: [
      { text: 'a.cu was not parsed: line 1', remedy: 'give the file the compile command that builds it' },
      { text: 'a.cu was not parsed: line 2', remedy: 'give the file the compile command that builds it' },
      { text: 'nothing was captured', remedy: "capgate audit --region 'step 1,2*' -- PROGRAM, where STEP is the range" },
    ],
  })));
  const open2 = many.page.locator('section:has(#not-proved)');
  expect((await open2.textContent())!.split('Give the file the compile command').length).toBe(2); // said once
  await open2.locator('button').first().click();
  await expect.poll(() => many.copied()).toBe("capgate audit --region 'step 1,2*' -- PROGRAM");
  await expect.poll(() => open2.textContent()).toContain('where STEP is the range');
  await close(many);
});

test('causes on many ranks are one, and their ranks are counted', async () => {
  const processes = Array.from({ length: 8 }, (_, rank) => ({ pid: 10 + rank, rank, argv0: 'decode', attached: true, events: 1, events_dropped: 0 }));
  const { coverage } = report();
  const tab = await open(pageOf(report({
    coverage: { ...coverage, processes },
    violations: [violation(1, { processes: processes.map(({ pid }) => pid) }), violation(2, { processes: [11, 12] })],
  })));
  await expect.poll(() => tab.page.textContent('.figures')).toContain('2 causes to fix on 8 of 8 ranks');
  await expect.poll(() => tab.page.locator('.first-cause .tag.ranks').textContent()).toBe('8 of 8 ranks');
  await expect.poll(() => tab.page.locator('.next .tag.ranks').textContent()).toBe('2 of 8 ranks');
  await close(tab);
});

test('the template is at most 200 KB', () => {
  expect(statSync(`${root}/reports/viewer/dist/page.html`).size).toBeLessThanOrEqual(200 * 1024);
});
