// Which faults belong to which node of a capture, and which work never became a node.
import type { Capture } from '../data/page_data';
import type { Finding } from '../model/findings';

// Faults whose work ran once, at capture time, somewhere else.
const elsewhere = new Set(['escaped-work', 'default-stream', 'sync-copy', 'wrong-device', 'empty-graph']);

export interface CaptureFaults {
  byNode: Map<number, Finding[]>; // by the node's number
  outside: Finding[];
  others: Finding[];
}

// A report names the nodes. Of an older one, only what a node says of itself is taken for its fault: a host node, a copy of
// pageable memory.
function nodesOf(finding: Finding, capture: Capture): number[] {
  const { violation } = finding;
  if (violation.nodes) {
    const named = new Set(violation.nodes.filter((one) => one.capture === capture.id).flatMap(({ ids }) => ids));
    return capture.nodes.flatMap(({ id }) => (named.has(id) ? [id] : []));
  }
  if (violation.capture !== capture.id) return [];
  const matching = (test: (kind: string, name: string) => boolean) =>
    capture.nodes.filter((node) => test(node.kind, node.name)).map((node) => node.id);
  if (violation.rule === 'host-node') return matching((kind) => kind === 'host');
  if (violation.rule === 'pageable-copy') return matching((kind, name) => kind === 'memcpy' && /\bpageable\b/.test(name));
  return [];
}

export function faultsOf(capture: Capture, findings: Finding[]): CaptureFaults {
  const faults: CaptureFaults = { byNode: new Map(), outside: [], others: [] };
  for (const finding of findings) {
    const nodes = nodesOf(finding, capture);
    for (const id of nodes) faults.byNode.set(id, [...(faults.byNode.get(id) ?? []), finding]);
    if (nodes.length > 0 || finding.violation.capture !== capture.id) continue;
    (elsewhere.has(finding.violation.rule) ? faults.outside : faults.others).push(finding);
  }
  return faults;
}

// The pieces of work that a fault names as outside the graph, and where each was sent.
export function outsideWork(finding: Finding): string[] {
  const { details } = finding.violation;
  return Object.keys(details).filter((key) => /^outside \d+$/.test(key)).map((key) => details[key]!);
}
