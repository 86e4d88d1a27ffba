import { expect, test } from 'vitest';
import type { Frame, PageData, Violation } from '../../src/data/page_data';
import { costOf, seenText, stepsText } from '../../src/model/cost';
import { fixOf, whyOf } from '../../src/model/fix';
import { escaped, markdownOf } from '../../src/model/markdown';
import { findingsOf } from '../../src/model/findings';
import { hashOf, placeOf, start } from '../../src/model/place';
import { foldedStack, moduleNames } from '../../src/model/stack';
import { allowComment, allowEntry } from '../../src/model/suppression';
import { bytes, counted, duration, list, sharedIndent, shortName } from '../../src/model/words';
import { frame, violation } from '../made/report';

const one = (parts: object = {}) => ({ ...violation(1), ...parts }) as unknown as Violation;

test('numbers in words', () => {
  expect([duration(12), duration(3400), duration(2.5e6)]).toEqual(['12 µs', '3.4 ms', '2.5 s']);
  expect([bytes(1), bytes(2048), bytes(3 * 2 ** 40)]).toEqual(['1 B', '2.0 KiB', '3.0 TiB']);
  expect([counted(1, 'rank'), counted(1200, 'process', 'processes')]).toEqual(['1 rank', '1,200 processes']);
  expect(list(['a', 'b', 'c'])).toBe('a, b and c');
});

test('what is the same in all lines or names is left out', () => {
  expect(sharedIndent(['    a', '', '      b', '    c'])).toBe(4);
  expect(sharedIndent(['\ta', '    b'])).toBe(0);
  expect(sharedIndent(['', ' '])).toBe(0);
  expect(shortName('a::(anonymous namespace)::k<a::(anonymous namespace)::T>')).toBe('a::k<a::T>');
});

test('a cost is per step only where the report says so', () => {
  expect(costOf(one({ count: 12, blocked_us: 900 }))).toEqual([{ amount: '12', label: 'times in the run' }, { amount: '900 µs', label: 'host blocked in the run' }]);
  const counted = one({ count: 12, blocked_us: 900, per_step: { steps: 3, count: 4, blocked_us: 300, left_out: [{ steps: 1, why: 'warm-up' }] } });
  expect(costOf(counted)).toEqual([{ amount: '4', label: 'times per step' }, { amount: '300 µs', label: 'host blocked per step' }]);
  expect(stepsText(counted)).toBe('over 3 steps; 1 left out: warm-up');
  expect(costOf(one({ details: { 'times a step': '1' } }))[0]).toEqual({ amount: '1', label: 'time per step' });
  expect(costOf(one({ evidence: ['static'] }))).toEqual([]);
  expect(seenText(one({ count: 2, thread: 'main', evidence: ['runtime', 'static'] }), '2 of 8 ranks')).toBe('2 times, on 2 of 8 ranks, thread main, seen in the source too');
});

test('the address gives back what it was made from, and survives nonsense', () => {
  const place = { ...start, view: 'findings' as const, search: 'a & b=c #d', choice: { rule: ['x', 'y&z'], file: ['ü/ß.cpp'] }, sort: 'count' as const, group: 'none' as const, id: 'f', capture: '1:1', node: 0 };
  expect(placeOf(hashOf(place))).toEqual(place);
  for (const hash of ['', '#', '#x', '#findings?', '#graph?node=NaN', '#?&&&=', '#findings?sort=toString&group=__proto__', '#overview?a?b?c'])
    expect(hashOf(placeOf(hash))).toMatch(/^#(overview|findings|graph)$/);
});

test('how to allow: a comment in the language of the line, an entry for code of others', () => {
  expect(allowComment(one(), false)).toBe('// capgate-allow(host-sync): WHY IT IS MEANT');
  expect(allowComment(one(), true)).toBe('# capgate-allow(host-sync): WHY IT IS MEANT');
  expect(allowComment(one({ location: { file: '', line: 0, function: 'lib.so!f+0x1' } }), false)).toBeNull();
  expect(allowEntry(one({ location: { file: '', line: 0, function: 'f(int, char*)' } }))).toBe('host-sync:f(int,?char?)  WHY IT IS MEANT');
});

const data = {
  file: 'run.json',
  frames: [
    frame({ function: 'cudaStreamSynchronize', module: 'libcudart.so.13' }), frame({ function: 'a', module: '/x/libtorch.so' }),
    frame({ function: 'b', module: 'libtorch.so' }), frame({ function: 'decode()', file: '/src/engine/decode.cpp', line: 11 }), frame({ function: 'main', file: 'main.cpp', line: 1 }),
  ].map((each, i) => ({ ...each, library: i < 3 })) as Frame[],
  rules: [{ id: 'host-sync', why: 'First.\n\nSecond.' }],
  situations: [{ id: 'host-sync.read', title: '', why: 'Because.', fix: 'do this', python_fix: 'do that', cpp: 'one();\ntwo();', python: '' }],
} as unknown as PageData;

test('library frames fold, the call and the line never do', () => {
  const parts = foldedStack([0, 1, 2, 3, 4], one(), data);
  expect(parts.map((part) => ('fold' in part ? part.fold.length : [part.frame.function, part.here]))).toEqual([['cudaStreamSynchronize', false], 2, ['decode()', true], ['main', false]]);
  expect(moduleNames(data.frames.slice(0, 3))).toBe('libcudart.so.13, libtorch.so');
  expect(moduleNames([frame({ language: 'python', file: '/v/site-packages/torch/nn/modules.py' }) as Frame])).toBe('torch');
});

test('a fix and a reason come from the situation where the report names one', () => {
  expect(whyOf(one(), data)).toBe('First.');
  expect(fixOf(one(), data)).toEqual({ text: 'keep the value on the device', code: [], language: 'C++' });
  const named = one({ situation: 'host-sync.read', hint: '' });
  expect(whyOf(named, data)).toBe('Because.');
  expect(fixOf(named, data)).toEqual({ text: 'do this', code: ['one();', 'two();'], language: 'C++' });
  const python = { ...named, location: { file: 'a.py', line: 1, function: 'f' } };
  expect(fixOf(python, data)).toEqual({ text: 'do that', code: [], language: 'Python' });
  const forTorch = { ...data, situations: [{ ...data.situations[0], python_is_for_torch: true }] } as unknown as PageData;
  expect(fixOf({ ...python, details: { torch: 'not loaded' } }, forTorch)).toEqual({ text: 'do this', code: ['one();', 'two();'], language: 'C++' });
  expect(fixOf({ ...python, details: {} }, forTorch).language).toBe('Python');
});

test('nothing of a report becomes markup in Markdown', () => {
  expect(escaped('<b> *x* [a](b) @me #1 `c` &amp;')).toBe('&lt;b\\> \\*x\\* \\[a\\]\\(b\\) \\@me \\#1 \\`c\\` &amp;amp;');
  const evil = one({
    message: '# <img src=x>\n---', location: { file: 'a`b.cpp', line: 1, function: '``f' }, source: [{ line: 1, text: '```' }, { line: 2, text: '</details>' }],
    stacks: [{ role: 'call', frames: [0] }],
  });
  const text = markdownOf(findingsOf([evil], []).all[0]!, data);
  expect(text).toContain('### error: \\# &lt;img src=x\\> \\-\\-\\-\n');
  expect(text).toContain('`` a`b.cpp:1 ``');
  expect(text).toContain('````\n> 1 | ```\n  2 | </details>\n````');
});
