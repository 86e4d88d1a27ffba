// Lanes by stream and the lines between rows: what is drawn left of the node names.
import type { CaptureNode } from '../data/page_data';
import type { Ordered } from './order';
import { rowsByPlace, type GraphRow } from './rows';

export interface Line {
  from: number; // rows
  to: number;
  fromLane: number;
  toLane: number;
  turnsEarly: boolean; // leaves its lane at once, as a fork does; a join comes over at the end
}

export interface Lanes {
  streams: string[];
  of: number[]; // for each row its lane
  lines: Line[];
  chunks: number[][]; // for each `chunkRows` rows the lines that touch them
}

export const chunkRows = 64;

export function lanesOf(graph: Ordered, rows: GraphRow[]): Lanes {
  const streams: string[] = [];
  const places = new Map<string, number>();
  const laneOf = (node: CaptureNode) => {
    let lane = places.get(node.stream);
    if (lane === undefined) {
      places.set(node.stream, (lane = streams.length));
      streams.push(node.stream || 'no stream');
    }
    return lane;
  };
  const nodeLanes = graph.nodes.map(laneOf);
  const of = rows.map((row) => nodeLanes[row.kind === 'node' ? row.place : row.first]!);
  const rowOf = rowsByPlace(rows, graph.nodes.length);
  // A line that goes down a lane must not pass a node there, or it would seem to come from that one.
  const before: number[] = []; // for each row the one before it in its lane, and the one after it
  const after: number[] = new Array<number>(rows.length).fill(rows.length);
  const last = new Map<number, number>();
  of.forEach((lane, row) => {
    const above = last.get(lane) ?? -1;
    before.push(above);
    if (above >= 0) after[above] = row;
    last.set(lane, row);
  });
  const lines: Line[] = [];
  const drawn = new Set<number>();
  for (const [a, b] of graph.edges) {
    const from = Math.min(rowOf[a]!, rowOf[b]!);
    const to = Math.max(rowOf[a]!, rowOf[b]!);
    const key = from * rows.length + to;
    if (from === to || drawn.has(key)) continue;
    drawn.add(key);
    const [fromLane, toLane] = [of[from]!, of[to]!];
    const freeThere = before[to]! < from;
    const freeHere = after[from]! > to;
    lines.push({ from, to, fromLane, toLane, turnsEarly: freeThere && (!freeHere || toLane > fromLane) });
  }
  const chunks: number[][] = Array.from({ length: Math.ceil(rows.length / chunkRows) }, () => []);
  lines.forEach(({ from, to }, index) => {
    for (let chunk = Math.floor(from / chunkRows); chunk <= Math.floor(to / chunkRows); ++chunk) chunks[chunk]!.push(index);
  });
  return { streams, of, lines, chunks };
}

// The lines that touch the rows [start, end).
export function linesBetween(lanes: Lanes, start: number, end: number): Line[] {
  const shown = new Set<number>();
  for (let chunk = Math.floor(start / chunkRows); chunk * chunkRows < end && chunk < lanes.chunks.length; ++chunk)
    for (const index of lanes.chunks[chunk]!) shown.add(index);
  return [...shown].map((index) => lanes.lines[index]!).filter(({ from, to }) => to >= start && from < end);
}
