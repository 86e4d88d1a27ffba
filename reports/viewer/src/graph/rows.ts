// The rows of the drawing: one per node; of a layer that repeats, the first copy and one row for the others.
import type { CaptureNode } from '../data/page_data';
import { repetitionsOf } from './layers';

export type GraphRow =
  | { kind: 'node'; place: number }
  | { kind: 'more'; first: number; end: number; period: number; times: number }; // nodes [first, end)

export function signatureOf(node: CaptureNode): string {
  return `${node.kind}\n${node.stream}\n${node.name}`;
}

// `open`: the repetitions (by their first hidden node) that are shown in full.
export function graphRows(nodes: CaptureNode[], collapse: boolean, open: ReadonlySet<number>): GraphRow[] {
  const repeats = collapse ? repetitionsOf(nodes.map(signatureOf)) : [];
  const rows: GraphRow[] = [];
  let place = 0;
  const upTo = (end: number) => {
    while (place < end) rows.push({ kind: 'node', place: place++ });
  };
  for (const { start, period, times } of repeats) {
    const first = start + period;
    const end = start + period * times;
    upTo(first);
    if (open.has(first)) continue;
    rows.push({ kind: 'more', first, end, period, times: times - 1 });
    place = end;
  }
  upTo(nodes.length);
  return rows;
}

// The row that shows each node.
export function rowsByPlace(rows: GraphRow[], count: number): Int32Array {
  const at = new Int32Array(count);
  rows.forEach((row, index) => {
    if (row.kind === 'node') at[row.place] = index;
    else at.fill(index, row.first, row.end);
  });
  return at;
}
