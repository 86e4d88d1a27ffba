// A report is hostile data: nothing in it runs, and a page that is not whole says so.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { capgate, dataOf, pageOf, pageWith, written } from '../made/page';
import { forkedCapture } from '../made/graphs';
import { bar, capture, frame, node, report, violation, type WrittenReport } from '../made/report';
import { close, open } from '../made/tab';

const attacks = [
  '<script>window.hacked=1;alert(1)</script>',
  '</script><script>window.hacked=1</script>',
  '<!--<script>window.hacked=1',
  '"><img src=x onerror="window.hacked=1">',
  "javascript:window.hacked=1//' onmouseover='window.hacked=1",
  '${window.hacked=1}{{window.hacked=1}}',
  '\u202egnp.exe\u2066\u0000\u001b[2J\u2028\u2029]]>',
  '@CAPGATE_PAGE_DATA@',
];

// Every text of the report becomes an attack, keys of free objects too. `at` turns which one stands where.
function spoiled(at: number): WrittenReport {
  let used = at;
  const attack = () => attacks[used++ % attacks.length]!;
  const free = () => ({ [attack()]: attack() });
  const name = attacks[at]!;
  return report({
    reasons: [{ text: attack(), remedy: attack() }],
    run: { argv: [attack(), attack()], exit_code: 0, signal: null, stopped_by_user: false, wall_s: 1 },
    subject: { ...report().subject, program: attack(), build_id: attack(), mode: attack(), buckets: [attack()], sm: attack(), [`x${attack()}`]: attack() },
    environment: { gpus: [{ index: 0, name: attack(), sm: attack() }], driver: attack(), cuda_runtime: attack(), cupti: { path: attack(), version: attack() }, host: attack(), python: attack(), torch: attack() },
    coverage: { ...report().coverage, regions: [{ name: attack(), source: 'nvtx', occurrences: 2 }], not_checked: [attack()], processes: [{ pid: 1, argv0: attack(), attached: true, events: 1, events_dropped: 0 }] },
    captures: [capture(name, { bucket: attack(), stream: attack(), mode: attack(), thread: attack(), process: attack(), nodes: attacks.map((_, id) => node(id, { kind: attack(), stream: attack(), name: attack() })).concat(node(99, { kind: 'toString' })), edges: [[0, 1]] })],
    timeline: {
      left_out: 0,
      threads: [{ process: attack(), thread: attack(), bars: attacks.map((_, i) => bar('wait', i, i + 1, { name: attack(), file: attack(), line: 2, capture: attack() })) }],
    },
    violations: attacks.map((_, i) =>
      violation(i + 1, {
        message: attack(), hint: attack(), api: attack(), result: attack(), capture: name, stream: attack(), thread: attack(), details: free(),
        location: { file: attack(), line: 2, function: attack() },
        source: [{ line: 1, text: attack() }, { line: 2, text: attack() }],
        stacks: [{ role: 'call', frames: [frame({ file: attack(), line: 2, function: attack(), module: attack() }), frame({ function: attack(), module: attack() })] }],
        flow: [{ file: attack(), line: 1, message: attack() }],
        suppressed: i === 2 ? { reason: attack(), origin: attack() } : null,
      }),
    ),
  });
}

test.each([0, 3])('whatever the texts of a report are, none runs (%d)', async (at) => {
  const made = spoiled(at);
  const address = pageOf(made, made);
  const tab = await open(address);
  const { page } = tab;
  const go = async (hash: string, there: string) => {
    await page.evaluate((to) => (location.hash = to), hash);
    await page.waitForSelector(there);
  };
  for (const view of ['overview', 'findings', 'graph', 'timeline', 'compared', 'run']) await go(view, `main.${view}`);
  await go('timeline', '.time-bar');
  await page.click('.time-bar >> nth=0');
  await go(`graph?node=0&in=${encodeURIComponent(attacks[at]!)}`, '.panel .facts');
  for (let id = 1; id <= attacks.length; ++id) {
    await go(`findings?id=${String(id).padStart(16, '0')}&q=${encodeURIComponent(attacks[id - 1]!)}&rule=host-sync`, '.detail');
    for (const summary of await page.locator('.detail summary').all()) await summary.click();
  }
  await page.mouse.move(700, 300);
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  await page.waitForSelector('.printed');
  await expect.poll(() => page.evaluate(() => (window as unknown as { hacked?: number }).hacked)).toBeUndefined();
  await expect.poll(() => page.locator('script').count()).toBe(1);
  await expect.poll(() => page.locator('img, iframe, object, embed, link').count()).toBe(0);
  await expect.poll(() => page.locator('a:not([href^="#"])').count()).toBe(0);
  // Nothing that turns the direction of writing or steers reaches the screen.
  await expect.poll(() => page.textContent('body')).not.toMatch(/[\u0000-\u0008\u001b\u202a-\u202e\u2066-\u2069]/);
  await close(tab);
});

test('the policy allows the page\'s own script and nothing else', async () => {
  const tab = await open(pageOf(report()));
  const { page } = tab;
  const policy = (await page.getAttribute('meta[http-equiv="Content-Security-Policy"]', 'content'))!;
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.hacked = 1';
    document.body.append(script);
    document.body.insertAdjacentHTML('beforeend', '<img src="x" onerror="window.hacked = 1"><a id="bad" href="javascript:window.hacked=1">x</a>');
    document.getElementById('bad')!.click();
  });
  await page.waitForTimeout(100);
  await expect.poll(() => page.evaluate(() => (window as unknown as { hacked?: number }).hacked)).toBeUndefined();
  expect(tab.complaints.length).toBeGreaterThan(0); // the browser says what it refused
  await page.close();
});

test('a name of a million characters is cut, and the page stays usable', async () => {
  const name = 'x'.repeat(1_000_000);
  const tab = await open(`${pageOf(report({ violations: [violation(1, { message: name, location: { file: name, line: 1, function: name } })] }))}#findings?id=0000000000000001`);
  const { page } = tab;
  expect((await page.textContent('#detail-title'))!).toMatch(/^x{4000}… \(996,000 bytes more\)$/);
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  await close(tab);
});

test('lists without end are drawn in part, and counted', async () => {
  const many = 5000;
  const lines = Array.from({ length: many }, (_, i) => ({ line: i + 1, text: `line ${i + 1}` }));
  const made = report({
    captures: [forkedCapture()],
    timeline: { left_out: 0, threads: [{ process: '1', thread: 'main', bars: Array.from({ length: many }, (_, i) => bar('wait', i, i + 1 + (i % 7))) }] },
    violations: [violation(1, {
      location: { file: 'a.cpp', line: 900, function: 'f' }, source: lines,
      flow: lines.map(({ line, text }) => ({ file: 'a.cpp', line, message: text })),
      stacks: Array.from({ length: 30 }, () => ({ role: 'freed', frames: Array.from({ length: 1000 }, (_, i) => frame({ file: 'b.cpp', line: 1 + (i % 9), function: 'again' })) })),
    })],
  });
  const tab = await open(`${pageOf(made)}#findings?id=0000000000000001`);
  const { page } = tab;
  await expect.poll(() => page.locator('.source .here').textContent()).toContain('line 900');
  await expect.poll(() => page.textContent('.flow')).toContain('and 4,900 more');
  await expect.poll(() => page.textContent('.detail')).toContain('and 20 more stacks');
  for (const view of ['findings?id=0000000000000001', 'overview', 'timeline']) {
    await page.evaluate((to) => (location.hash = to), view);
    await page.waitForSelector(`main.${view.split('?')[0]}`);
    expect(await page.evaluate(() => document.querySelectorAll('*').length), view).toBeLessThan(40_000);
  }
  await expect.poll(() => page.locator('.time-bar').count()).toBe(1000);
  await expect.poll(() => page.textContent('.capture-line')).toContain('4,000 shorter events left out');
  await close(tab);
});

test('a number that JavaScript cannot hold exactly keeps nobody from the page', async () => {
  const text = JSON.stringify(report({ captures: [capture('1:1', { nodes: [node(0), node(1)], edges: [[0, 1]] })] })).replaceAll('"id":1,', '"id":18446744073709551615,').replace('[[0,1]]', '[[0,18446744073709551615]]').replace('"duration_us":1200', '"duration_us":1e308');
  const tab = await open(`${pageOf(written(text))}#graph`);
  await expect.poll(() => tab.page.locator('.node').count()).toBe(2);
  await close(tab);
});

const whole = dataOf(pageOf(report({ captures: [capture('1:1')], violations: [violation(1)] })));

test('a page with data that is not whole or not what it should be says what is wrong', async () => {
  const broken: [string, string][] = [
    [whole.slice(0, whole.length / 2), 'cut off or edited'],
    ['', 'cut off or edited'],
    ['{"page":"capgate-page/9"}', 'page is none of capgate-page/1'],
    ['[]', 'cut off or edited'],
    ['H4sIAAAA', 'cut off or edited'],
    ['null', 'cut off or edited'],
    ['{"page":[]}', 'page is none of'],
    [whole.replace('"violations":[', '"violations":"x","then":['), 'report.violations is a string, not a list'],
    [whole.replace('"rule":"host-sync"', '"rule":7'), 'report.violations[0].rule is a number, not a string'],
    [whole.replace('"location":', '"loc":'), 'report.violations[0].location is missing, not an object'],
    [whole.replace('"edges":[]', '"edges":[[1]]'), 'report.captures[0].edges[0] is no pair of nodes'],
  ];
  const tab = await open(pageWith(broken[0]![0]));
  for (const [data, complaint] of broken) {
    await tab.page.goto(pageWith(data));
    await tab.page.waitForSelector('main');
    await expect.poll(() => tab.page.textContent('h1')).toBe('This page cannot be shown');
    await expect.poll(() => tab.page.textContent('main')).toContain(complaint);
  }
  await close(tab);
});

test('what is wrong far down in a long list is found too', async () => {
  const data = JSON.parse(dataOf(pageOf(report({ violations: Array.from({ length: 2500 }, (_, i) => violation(i + 1)) })))) as { report: { violations: { rule: unknown; processes: unknown }[] } };
  data.report.violations[2400]!.rule = 7;
  const tab = await open(pageWith(JSON.stringify(data)));
  await tab.page.waitForSelector('text=report.violations[2400].rule is a number, not a string');
  data.report.violations[2400]!.processes = null;
  await tab.page.goto(pageWith(JSON.stringify(data)));
  await tab.page.waitForSelector('text=report.violations[2400].rule is a number, not a string');
  await close(tab);
});

test.each([
  ['cut off', JSON.stringify(report({ violations: [violation(1)] })).slice(0, 900)],
  ['wrong types', JSON.stringify({ ...report(), violations: 'none' })],
  ['not a report', '<html></html>'],
])('capgate refuses a report that is %s with one sentence and writes no page', (_, text) => {
  const done = spawnSync(capgate, ['view', written(text), '--out', `${written('')}.html`], { encoding: 'utf8' });
  expect(done.status).toBe(2);
  expect(done.stdout).toBe('');
  expect(done.stderr.trim().split('\n').length).toBe(1);
});
