import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { capgate, dataOf, pageOf, pageWith, recorded, written } from '../made/page';
import { frame, report, violation } from '../made/report';
import { close, open } from '../made/tab';

const address = pageOf(recorded('python/deepseek_v4_step.faulty.json'));

test('C++ and Python frames stand in one stack, library frames folded', async () => {
  const tab = await open(`${address}#findings?id=755d8bc726486d7f`);
  const { page } = tab;
  const stack = page.locator('.stack').first();
  const folded = await stack.locator('li').count();
  await expect.poll(() => stack.locator('.frame').first().textContent()).toContain('cudaStreamSynchronize');
  await expect.poll(() => stack.locator('.frame.here').textContent()).toContain('modeling_deepseek_v4.py:1003');
  const fold = stack.locator('.fold button').first();
  await expect.poll(() => fold.textContent()).toContain('9 frames in libcudart.so.13, libtorch_cuda.so, libtorch_cpu.so, …');
  await fold.click();
  await expect.poll(() => stack.locator('li').count()).toBe(folded + 9);
  await expect.poll(() => stack.textContent()).toContain('at::native::nonzero_cuda');
  const languages = await stack.locator('.language').allTextContents();
  expect(languages.indexOf('Python')).toBeGreaterThan(languages.indexOf('C++'));
  await fold.click();
  await expect.poll(() => stack.locator('li').count()).toBe(folded);
  await close(tab);
});

test('every stack, the flow, the details, the rule and the symptoms are shown', async () => {
  const made = report({
    violations: [
      violation(1, {
        rule: 'host-branch',
        evidence: ['static', 'runtime'],
        stacks: ['freed', 'call', 'allocated', 'captured', 'forked'].map((role) => ({ role, frames: [frame({ function: `at_${role}`, file: 'a.cpp', line: 3 })] })),
        flow: [{ file: 'a.cpp', line: 1, message: 'the device writes n' }, { file: 'a.cpp', line: 4, message: 'n decides the branch' }],
        details: { 'at capture': '0x7f00', 'at replay': '0x7f80' },
      }),
      violation(2),
    ],
  });
  const data = JSON.parse(dataOf(pageOf(made))) as { report: { violations: { symptom_of?: string; id: string }[] } };
  data.report.violations[1]!.symptom_of = data.report.violations[0]!.id;
  const tab = await open(`${pageWith(JSON.stringify(data))}#findings`);
  const { page } = tab;
  await expect.poll(() => page.locator('.row.below').count()).toBe(1);
  await page.click('.row >> nth=0');
  const titles = await page.locator('.detail .part > h3').allTextContents();
  for (const title of ['Call stack', 'Where the memory was allocated', 'Where it was captured', 'Where the memory was freed', 'Where the stream was forked', '1 symptom that would go away with it'])
    expect(titles).toContain(title);
  expect(titles.indexOf('Call stack')).toBeLessThan(titles.indexOf('Where the memory was freed'));
  await expect.poll(() => page.locator('.flow li').allTextContents()).toEqual(['the device writes n a.cpp:1', 'n decides the branch a.cpp:4']);
  await expect.poll(() => page.textContent('.detail .facts')).toContain('0x7f80');
  await page.click('.rule-page summary');
  await expect.poll(() => page.textContent('.rule-page')).toContain('capgate explain host-branch');
  await page.click('.detail .part a:has-text("stream s2")');
  await page.waitForSelector('.detail h3:text-is("A symptom of")');
  await close(tab);
});

const step = [
  '#include <cuda_runtime.h>', '', 'void step(cudaStream_t stream) {', '  cudaGraph_t graph;',
  '  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);', '  cudaStreamSynchronize(stream);', '  cudaStreamEndCapture(stream, &graph);', '}', '',
];

interface Linted {
  violations: { rule: string; suppressed: null | { reason: string } }[];
}

// Without the static pass there is nothing that reads suppressions and needs no GPU.
const canLint = execFileSync(capgate, ['--help'], { encoding: 'utf8' }).includes('  lint ');

test.runIf(canLint)('what to write to allow a finding is taken by capgate as it is', async () => {
  const folder = dirname(written(''));
  const lint = (lines: string[], ...words: string[]): string => {
    writeFileSync(join(folder, 'step.cu'), lines.join('\n'));
    spawnSync(capgate, ['lint', 'step.cu', '--out', 'linted.json', ...words], { cwd: folder });
    return join(folder, 'linted.json');
  };
  const allowed = (file: string) => (JSON.parse(readFileSync(file, 'utf8')) as Linted).violations.map(({ suppressed }) => suppressed?.reason);
  const report = lint(step);
  expect(allowed(report)).toEqual([undefined]);
  const tab = await open(`${pageOf(report)}#findings`);
  await tab.page.click('.row');
  const copies = tab.page.locator('.allow .copy');
  await copies.nth(0).click();
  const comment = (await tab.copied()).replace('WHY IT IS MEANT', 'a debug build waits');
  await copies.nth(1).click();
  const entry = (await tab.copied()).replace('WHY IT IS MEANT', 'not ours');
  await close(tab);
  expect(comment).toBe('// capgate-allow(host-sync): a debug build waits');
  expect(allowed(lint([...step.slice(0, 5), comment, ...step.slice(5)]))).toEqual(['a debug build waits']);
  writeFileSync(join(folder, 'known.supp'), `${entry}\n`);
  expect(allowed(lint(step, '--suppressions', 'known.supp'))).toEqual(['not ours']);
});

test('a finding is copied as Markdown', async () => {
  const tab = await open(`${address}#findings?id=755d8bc726486d7f`);
  await tab.page.click('.detail >> text=Copy as Markdown');
  const text = await tab.copied();
  expect(text).toContain('### error: the host waits for a copy of 4 bytes from the device');
  expect(text).toContain('`transformers/models/deepseek_v4/modeling_deepseek_v4.py:1003`');
  expect(text).toContain('> 1003 |             hit = torch.greater(');
  expect(text).toContain('… 9 frames in libcudart.so.13');
  expect(text).toContain('**Fix:** ');
  await close(tab);
});
