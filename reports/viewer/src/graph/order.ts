// The nodes of a capture in an order that an arrow never goes against, as near to the order of capture as that allows.
import type { Capture, CaptureNode } from '../data/page_data';

export interface Ordered {
  nodes: CaptureNode[];
  edges: [number, number][]; // places in `nodes`
  wrong: string; // what cannot be true of a graph: a cycle, an edge to a node that is not there
}

// A heap of places, the smallest first.
class Waiting {
  private readonly heap: number[] = [];

  get empty(): boolean {
    return this.heap.length === 0;
  }

  add(place: number): void {
    const { heap } = this;
    let at = heap.push(place) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]! <= heap[at]!) break;
      [heap[parent], heap[at]] = [heap[at]!, heap[parent]!];
      at = parent;
    }
  }

  take(): number {
    const { heap } = this;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length > 0) heap[0] = last;
    for (let at = 0; ; ) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) if (child < heap.length && heap[child]! < heap[least]!) least = child;
      if (least === at) return first;
      [heap[least], heap[at]] = [heap[at]!, heap[least]!];
      at = least;
    }
  }
}

export function orderNodes(capture: Capture): Ordered {
  const places = new Map<number, number>();
  capture.nodes.forEach((node, place) => places.set(node.id, place));
  let wrong = places.size < capture.nodes.length ? 'two nodes have one number' : '';
  const edges: [number, number][] = [];
  for (const [from, to] of capture.edges) {
    const a = places.get(from);
    const b = places.get(to);
    if (a === undefined || b === undefined) wrong ||= `an edge leads to node ${a === undefined ? from : to}, which is not there`;
    else edges.push([a, b]);
  }
  const after: number[][] = capture.nodes.map(() => []);
  const missing = new Int32Array(capture.nodes.length);
  for (const [a, b] of edges) {
    after[a]!.push(b);
    missing[b]! += 1;
  }
  const waiting = new Waiting();
  missing.forEach((count, place) => count === 0 && waiting.add(place));
  const order: number[] = [];
  while (!waiting.empty) {
    const place = waiting.take();
    order.push(place);
    for (const next of after[place]!) if (--missing[next]! === 0) waiting.add(next);
  }
  if (order.length < capture.nodes.length) {
    wrong ||= 'its edges go in a circle';
    const done = new Set(order);
    capture.nodes.forEach((_, place) => done.has(place) || order.push(place));
  }
  const at = new Int32Array(capture.nodes.length);
  order.forEach((place, row) => (at[place] = row));
  return {
    nodes: order.map((place) => capture.nodes[place]!),
    edges: edges.map(([a, b]) => [at[a]!, at[b]!]),
    wrong,
  };
}
