import { expect, test } from 'vitest';
import type { Process, Violation } from '../../src/data/page_data';
import { filterFindings, indexFacets } from '../../src/model/facets';
import { findingsOf, ranksAmong } from '../../src/model/findings';
import { rowsOf } from '../../src/model/order';
import { violation } from '../made/report';

const ranks: Process[] = [0, 1, 2].map((rank) => ({ pid: 10 + rank, rank, argv0: 'a', attached: true, events: 1, events_dropped: 0 }));

function found(parts: Partial<Violation>[]) {
  return findingsOf(parts.map((part, i) => ({ ...(violation(i + 1) as unknown as Violation), ...part })), ranks);
}

const id = (number: number) => number.toString(16).padStart(16, '0');

test('symptoms hang on their cause, and what cannot be a cause is none', () => {
  const { all, causes, symptoms } = found([{}, { symptom_of: id(1) }, { symptom_of: id(2) }, { symptom_of: id(4) }, { symptom_of: 'nobody' }, { severity: 'note' }]);
  expect(all.map(({ cause }) => cause?.violation.id)).toEqual([undefined, id(1), undefined, undefined, undefined, undefined]);
  expect(causes.map(({ violation: one }) => one.id)).toEqual([id(1), id(3), id(4), id(5)]);
  expect(symptoms).toBe(1);
});

test('a cause that is allowed or less grave hides nothing', () => {
  const { causes } = found([{ severity: 'warning' }, { symptom_of: id(1) }, { suppressed: { reason: 'r', origin: 'o' } }, { symptom_of: id(3) }]);
  expect(causes.map(({ violation: one }) => one.id)).toEqual([id(1), id(2), id(4)]);
});

test('a launcher is none of the ranks', () => {
  const { rank: _, ...launcher } = { ...ranks[0]!, pid: 9 };
  expect(ranksAmong([10, 12], [launcher, ...ranks])).toBe('2 of 3 ranks');
  expect(ranksAmong([9], [launcher, ...ranks])).toBe('');
});

test('ranks are counted among the ranks, processes among the processes', () => {
  const { all } = found([{ processes: [10, 12] }, { processes: [] }, { processes: [99] }]);
  expect(all.map((one) => one.ranks)).toEqual(['2 of 3 ranks', '', '']);
  const unranked = findingsOf([violation(1, { processes: [10, 11, 12] }) as unknown as Violation], ranks.map(({ rank: _, ...rest }) => rest));
  expect(unranked.all[0]!.ranks).toBe('3 of 3 processes');
});

test('facets keep what every one of them allows, and count what each further choice would leave', () => {
  const { all } = found([{ rule: 'a', thread: 'x' }, { rule: 'a', thread: 'y' }, { rule: 'b', thread: 'x', processes: [10, 11] }]);
  const index = indexFacets(all, ranks);
  const counts = (of: { value: string; count: number }[]) => Object.fromEntries(of.map(({ value, count }) => [value, count]));
  const { kept, facets } = filterFindings(index, { rule: ['a'], thread: ['x'] }, '');
  expect(kept.map(({ at }) => at)).toEqual([0]);
  expect(counts(facets.rule)).toEqual({ a: 1, b: 1 });
  expect(counts(facets.thread)).toEqual({ x: 1, y: 1 });
  expect(counts(facets.severity)).toEqual({ error: 1 });
  expect(counts(filterFindings(index, {}, '').facets.process)).toEqual({ 'process 1': 2, 'rank 0': 1, 'rank 1': 1 });
  expect(filterFindings(index, { rule: ['no such rule'] }, '').kept).toEqual([]);
  expect(filterFindings(index, { rule: ['a', 'b'] }, '').kept.length).toBe(3);
});

test('every word of a search must occur, in any case and any field', () => {
  const { all } = found([{ message: 'waits for the Stream', details: { callee: 'cublasCreate' } }, { message: 'waits' }]);
  const kept = (search: string) => filterFindings(indexFacets(all, ranks), {}, search).kept.map(({ at }) => at);
  expect(kept('the WAITS')).toEqual([0]);
  expect(kept('cublascreate')).toEqual([0]);
  expect(kept('  ')).toEqual([0, 1]);
  expect(kept('waits nowhere')).toEqual([]);
});

test('rows: symptoms below their cause, headings, every order total', () => {
  const { all } = found([{ rule: 'b', count: 1 }, { rule: 'a', count: 5 }, { rule: 'a', count: 5, symptom_of: id(1) }]);
  const flat = (...words: Parameters<typeof rowsOf>) => rowsOf(...words).map((row) => ('heading' in row ? `${row.heading}:${row.count}` : `${row.below ? '>' : ''}${row.finding.at}`));
  expect(flat(all, 'report', 'cause')).toEqual(['0', '>2', '1']);
  expect(flat(all.slice(1), 'report', 'cause')).toEqual(['1', '2']);
  expect(flat(all, 'count', 'none')).toEqual(['1', '2', '0']);
  expect(flat(all, 'rule', 'rule')).toEqual(['a:2', '1', '2', 'b:1', '0']);
});
