// Captured graphs made for tests.
import type { Capture } from '../../src/data/page_data';
import { capture, chain, node } from './report';

// A stream that forks to another and joins again, then layers that repeat, then a host node.
export function forkedCapture(): Capture {
  const nodes = [
    node(0, { name: 'embed' }),
    node(1, { name: 'router' }),
    node(2, { name: 'shared_expert', stream: 's1' }),
    node(3, { name: 'experts' }),
    node(4, { kind: 'memcpy', name: '64 bytes pageable to device' }),
    ...Array.from({ length: 12 }, (_, i) => node(5 + i, { name: ['norm', 'attention', 'mlp'][i % 3]! })),
    node(17, { kind: 'host', name: 'on_token(void*)' }),
  ];
  const edges: [number, number][] = [[0, 1], [1, 2], [1, 3], [2, 4], [3, 4], [4, 5], ...chain(12).map(([a, b]): [number, number] => [a + 5, b + 5]), [16, 17]];
  return capture('1:1', { bucket: 'bs=8', nodes, edges });
}

// `layers` times the same layer of eight nodes, two of them on a second stream.
export function layeredCapture(id: string, layers: number): Capture {
  const nodes = [];
  const edges: [number, number][] = [];
  for (let layer = 0; layer < layers; ++layer) {
    const at = layer * 8;
    for (let i = 0; i < 8; ++i) nodes.push(node(at + i, { name: `layer_part_${i}<float, ${i}>`, stream: i === 3 || i === 4 ? 's1' : 's0' }));
    edges.push([at, at + 1], [at + 1, at + 2], [at + 2, at + 3], [at + 3, at + 4], [at + 2, at + 5], [at + 4, at + 6], [at + 5, at + 6], [at + 6, at + 7]);
    if (layer > 0) edges.push([at - 1, at]);
  }
  return capture(id, { nodes, edges });
}
