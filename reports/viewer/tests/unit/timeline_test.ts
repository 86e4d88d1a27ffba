import { expect, test } from 'vitest';
import type { Violation } from '../../src/data/page_data';
import { findingsOf } from '../../src/model/findings';
import { barText, findingsByBar, placed, rowsOf, spanOf, ticksOf } from '../../src/model/timeline';
import { bar, violation } from '../made/report';

test('the span is that of all threads, and never empty', () => {
  expect(spanOf([{ process: '1', thread: 'main', bars: [bar('region', 5, 10)] }, { process: '1', thread: '7', bars: [bar('wait', 2, 3)] }])).toEqual({ from: 2, to: 10 });
  expect(spanOf([])).toEqual({ from: 0, to: 1 });
  const point = spanOf([{ process: '1', thread: 'main', bars: [bar('replay', 4, 4)] }]);
  expect(placed(bar('replay', 4, 4), point)).toEqual({ left: 0, width: 0 });
});

test('a row per kind; regions inside each other have one each', () => {
  const inner = bar('region', 2, 4);
  const outer = bar('region', 0, 9);
  const after = bar('region', 10, 12);
  const wait = bar('wait', 3, 4);
  expect(rowsOf({ process: '1', thread: 'main', bars: [wait, inner, after, outer] })).toEqual([
    { kind: 'region', bars: [outer, after] }, { kind: 'region', bars: [inner] }, { kind: 'wait', bars: [wait] },
  ]);
  const deep = Array.from({ length: 50 }, (_, i) => bar('region', i, 100 - i));
  expect(rowsOf({ process: '1', thread: 'main', bars: deep }).length).toBe(8);
});

test('ticks are round and few', () => {
  expect(ticksOf({ from: 0, to: 1000 }, 5)).toEqual([0, 200, 400, 600, 800, 1000]);
  expect(ticksOf({ from: 3, to: 4 }, 4)).toEqual([3, 3.5, 4]);
  expect(ticksOf({ from: 0, to: 1e12 }, 6).length).toBeLessThan(12);
});

test('a bar in words', () => {
  expect(barText(bar('wait', 1200, 1300, { name: 'cudaStreamSynchronize', file: 'a.cpp', line: 3, count: 2, busy_us: 45 }))).toBe('cudaStreamSynchronize at a.cpp:3, 2 times, 45 µs in all, from 1.2 ms on');
  expect(barText(bar('replay', 3, 3, { name: 'decode' }))).toBe('decode, from 3.0 µs on');
});

test('a bar leads to the findings of its line or of its capture', () => {
  const { all } = findingsOf(
    [
      violation(1, { location: { file: 'a.cpp', line: 3, function: 'f' } }), violation(2, { capture: '1:1', location: { file: 'b.cpp', line: 3, function: 'f' } }),
      violation(3, { location: { file: '', line: 0, function: 'f' } }),
    ] as unknown as Violation[],
    [],
  );
  const of = findingsByBar(all);
  expect(of(bar('wait', 0, 1, { file: 'a.cpp', line: 3 })).map(({ at }) => at)).toEqual([0]);
  expect(of(bar('capture', 0, 1, { capture: '1:1' })).map(({ at }) => at)).toEqual([1]);
  expect(of(bar('wait', 0, 1))).toEqual([]);
  expect(of(bar('region', 0, 1, { file: 'a.cpp', line: 3 }))).toEqual([]);
});
