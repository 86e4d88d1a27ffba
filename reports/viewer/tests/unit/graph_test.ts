import { expect, test } from 'vitest';
import { faultsOf, outsideWork } from '../../src/graph/faults';
import { lanesOf, linesBetween } from '../../src/graph/lanes';
import { repetitionsOf } from '../../src/graph/layers';
import { orderNodes } from '../../src/graph/order';
import { graphRows, rowsByPlace } from '../../src/graph/rows';
import type { Violation } from '../../src/data/page_data';
import { findingsOf } from '../../src/model/findings';
import { forkedCapture, layeredCapture } from '../made/graphs';
import { capture, chain, node, violation } from '../made/report';

test('repetitions: the ones that save most, the shortest period, nothing small', () => {
  const of = (text: string) => repetitionsOf([...text]).map(({ start, period, times }) => [start, period, times]);
  expect(of('xabcabcabcy')).toEqual([[1, 3, 3]]);
  expect(of('aaaaaa')).toEqual([[0, 1, 6]]);
  expect(of('abababab')).toEqual([[0, 2, 4]]);
  expect(of('aab')).toEqual([]);
  expect(of('abcdabcd-efgefgefg')).toEqual([[0, 4, 2], [9, 3, 3]]);
  expect(of('')).toEqual([]);
  expect(of('abcabcab')).toEqual([[0, 3, 2]]);
});

test('two thousand layers of different lengths are found in a moment', () => {
  const names = Array.from({ length: 5000 }, (_, i) => `part ${i % 43}`);
  const begin = performance.now();
  expect(repetitionsOf(names)).toEqual([{ start: 0, period: 43, times: 116 }]);
  expect(performance.now() - begin).toBeLessThan(1500);
});

test('nodes stand in capture order unless an edge goes against it', () => {
  const order = (edges: [number, number][], ids = [0, 1, 2, 3]) => {
    const { nodes, wrong } = orderNodes(capture('c', { nodes: ids.map((id) => node(id)), edges }));
    return [nodes.map(({ id }) => id), wrong];
  };
  expect(order(chain(4))).toEqual([[0, 1, 2, 3], '']);
  expect(order([[3, 0], [0, 1]])).toEqual([[2, 3, 0, 1], '']);
  expect(order([[0, 1], [1, 0]])).toEqual([[2, 3, 0, 1], 'its edges go in a circle']);
  expect(order([[0, 9]])).toEqual([[0, 1, 2, 3], 'an edge leads to node 9, which is not there']);
  expect(order([], [0, 0, 1])[1]).toBe('two nodes have one number');
});

test('a folded layer is one row, and opens', () => {
  const { nodes } = orderNodes(layeredCapture('c', 5));
  const rows = graphRows(nodes, true, new Set());
  expect(rows.length).toBe(9);
  expect(rows[8]).toEqual({ kind: 'more', first: 8, end: 40, period: 8, times: 4 });
  expect([...rowsByPlace(rows, 40)].slice(6, 12)).toEqual([6, 7, 8, 8, 8, 8]);
  expect(graphRows(nodes, true, new Set([8])).length).toBe(40);
  expect(graphRows(nodes, false, new Set()).length).toBe(40);
});

test('every fork turns at once, also to a stream that was used before, and no line passes a node of another', () => {
  const layer = (at: number): [number, number][] => [[at, at + 1], [at, at + 3], [at, at + 2], [at + 1, at + 4], [at + 2, at + 4], [at + 3, at + 4]];
  const nodes = Array.from({ length: 15 }, (_, i) => node(i, { name: `k${i}`, stream: ['s0', 's1', 's0', 's2', 's0'][i % 5]! }));
  const graph = orderNodes(capture('1:1', { nodes, edges: [...layer(0), [4, 5], ...layer(5), [9, 10], ...layer(10)] }));
  const lanes = lanesOf(graph, graphRows(graph.nodes, false, new Set()));
  for (const { from, to, fromLane, toLane, turnsEarly } of lanes.lines) {
    if (fromLane === toLane) continue;
    expect(turnsEarly, `${from} to ${to}`).toBe(fromLane === 0);
    const lane = turnsEarly ? toLane : fromLane;
    expect(lanes.of.slice(from + 1, to), `${from} to ${to}`).not.toContain(lane);
  }
});

test('lanes by stream; a fork turns at once, a join at the end; only lines near the window are drawn', () => {
  const graph = orderNodes(forkedCapture());
  const rows = graphRows(graph.nodes, false, new Set());
  const lanes = lanesOf(graph, rows);
  expect(lanes.streams).toEqual(['s0', 's1']);
  const across = lanes.lines.filter((line) => line.fromLane !== line.toLane);
  expect(across).toEqual([
    { from: 1, to: 2, fromLane: 0, toLane: 1, turnsEarly: true },
    { from: 2, to: 4, fromLane: 1, toLane: 0, turnsEarly: false },
  ]);
  expect(linesBetween(lanes, 16, 18)).toEqual(lanes.lines.filter(({ to }) => to >= 16));
  const long = orderNodes(capture('c', { nodes: Array.from({ length: 1000 }, (_, id) => node(id, { name: `n${id}` })), edges: [...chain(1000), [3, 990]] }));
  const all = lanesOf(long, graphRows(long.nodes, false, new Set()));
  expect(linesBetween(all, 500, 520).length).toBe(22);
});

test('a fault is a node\'s where the report or the node itself says so', () => {
  const findings = findingsOf(
    [
      violation(1, { rule: 'stale-argument', capture: '1:1', nodes: [{ capture: '1:1', ids: [3, 5] }] }), violation(2, { rule: 'pageable-copy', capture: '1:1' }),
      violation(3, { rule: 'host-node', capture: '1:1' }), violation(4, { rule: 'escaped-work', capture: '1:1', details: { 'outside 1': 'a', 'outside 2': 'b', region: 'x' } }),
      violation(5, { capture: '1:1' }), violation(6, { capture: 'other' }), violation(7, { rule: 'x', capture: '1:1', nodes: [{ capture: '1:1', ids: [999] }] }),
      violation(8, { rule: 'freed-memory', capture: 'other', nodes: [{ capture: 'other', ids: [4] }, { capture: '1:1', ids: [6] }] }),
    ] as unknown as Violation[],
    [],
  ).all;
  const faults = faultsOf(forkedCapture(), findings);
  expect([...faults.byNode].map(([id, list]) => [id, list.map(({ at }) => at)])).toEqual([[3, [0]], [5, [0]], [4, [1]], [17, [2]], [6, [7]]]);
  expect(faults.outside.map(({ at }) => at)).toEqual([3]);
  expect(faults.others.map(({ at }) => at)).toEqual([4, 6]);
  expect(outsideWork(findings[3]!)).toEqual(['a', 'b']);
});
