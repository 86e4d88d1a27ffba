import { Component } from 'preact';
import type { CaptureNode } from '../../data/page_data';
import type { Lanes } from '../../graph/lanes';
import type { GraphRow } from '../../graph/rows';
import { counted, grouped, shortName } from '../../model/words';
import { drawingWidth, laneWidth } from './graph_drawing';

// A letter for each kind, so that colour is never the only sign.
export const kindLetters: Record<string, string> = {
  kernel: 'K', memcpy: 'C', memset: 'S', host: 'H', graph: 'G', empty: 'E', 'event-wait': 'W', 'event-record': 'R', alloc: 'A', free: 'F',
  memop: 'M', conditional: 'I', 'semaphore-signal': 'P', 'semaphore-wait': 'Q',
};

export function Dot({ kind, faulty }: { kind: string; faulty: boolean }) {
  return (
    <span class={`dot ${Object.hasOwn(kindLetters, kind) ? kind : 'other'} ${faulty ? 'faulty' : ''}`} aria-hidden="true">
      {Object.hasOwn(kindLetters, kind) ? kindLetters[kind] : 'X'}
    </span>
  );
}

interface NodeProps {
  node: CaptureNode;
  lanes: Lanes;
  row: number;
  faults: number;
  chosen: boolean;
  href: string;
}

// A class, so that scrolling does not draw again what has not changed.
export class NodeRow extends Component<NodeProps> {
  override shouldComponentUpdate(next: NodeProps): boolean {
    const { node, lanes, row, faults, chosen, href } = this.props;
    return next.node !== node || next.lanes !== lanes || next.row !== row || next.faults !== faults || next.chosen !== chosen || next.href !== href;
  }

  override render({ node, lanes, row, faults, chosen, href }: NodeProps) {
    const left = lanes.of[row]! * laneWidth(lanes) + laneWidth(lanes) / 2 + 5;
    return (
      <a class={`node ${chosen ? 'open' : ''} ${faults > 0 ? 'faulty' : ''}`} href={href} aria-current={chosen ? 'true' : undefined}>
        <span class="gutter" style={{ width: `${drawingWidth(lanes)}px` }}>
          <span class="at" style={{ left: `${left}px` }}>
            <Dot kind={node.kind} faulty={faults > 0} />
          </span>
        </span>
        <span class="number">{grouped(node.id)}</span>
        <span class="kind">{node.kind}</span>
        <span class="name" title={node.name}>{shortName(node.name) || node.kind}</span>
        {faults > 0 && <span class="tag fault">{counted(faults, 'finding')}</span>}
      </a>
    );
  }
}

interface MoreProps {
  row: GraphRow & { kind: 'more' };
  lanes: Lanes;
  index: number;
  faults: number;
  open: () => void;
}

export function MoreRow({ row, lanes, index, faults, open }: MoreProps) {
  const left = lanes.of[index]! * laneWidth(lanes) + laneWidth(lanes) / 2 + 5;
  const nodes = row.end - row.first;
  return (
    <button type="button" class="node folded" aria-expanded={false} onClick={open}>
      <span class="gutter" style={{ width: `${drawingWidth(lanes)}px` }}>
        <span class="at" style={{ left: `${left}px` }}>
          <span class="dot stacked" aria-hidden="true">⋮</span>
        </span>
      </span>
      <span class="name">
        {row.period === 1 ? `the node above ${grouped(row.times)} more ${row.times === 1 ? 'time' : 'times'}` : `the ${grouped(row.period)} nodes above ${grouped(row.times)} more ${row.times === 1 ? 'time' : 'times'} (${counted(nodes, 'node')})`}
      </span>
      {faults > 0 && <span class="tag fault">{counted(faults, 'finding')}</span>}
    </button>
  );
}
