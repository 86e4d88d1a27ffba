// A captured graph: one row per node in the order of capture, one lane per stream.
import { useMemo, useState } from 'preact/hooks';
import type { Capture, CaptureNode } from '../../data/page_data';
import { faultsOf, outsideWork, type CaptureFaults } from '../../graph/faults';
import { lanesOf } from '../../graph/lanes';
import { orderNodes, type Ordered } from '../../graph/order';
import { graphRows, rowsByPlace, type GraphRow } from '../../graph/rows';
import { linksTo } from '../../model/place';
import type { Finding } from '../../model/findings';
import { counted, duration, grouped, resultText } from '../../model/words';
import { LinkTo } from '../findings/detail';
import { Drawing, drawingWidth, rowSize } from './graph_drawing';
import { Dot, MoreRow, NodeRow } from './graph_rows';
import { Facts, Go, Section, SeverityMark } from '../parts';
import { usePage } from '../state';
import { VirtualList } from '../virtual_list';

const rowHeight = () => rowSize;

function captureName(capture: Capture): string {
  return capture.bucket ? `${capture.bucket} (${capture.id})` : capture.id;
}

// The capture to show: the one asked for, else the first that has nodes.
export function shownCapture(captures: Capture[], id: string): Capture | undefined {
  return captures.find((capture) => capture.id === id) ?? captures.find((capture) => capture.nodes.length > 0) ?? captures[0];
}

function FaultList({ title, findings, children }: { title: string; findings: Finding[]; children?: (finding: Finding) => preact.ComponentChildren }) {
  if (findings.length === 0) return null;
  return (
    <Section title={title}>
      <ul>
        {findings.slice(0, 30).map((finding) => (
          <li key={finding.at}>
            <SeverityMark severity={finding.violation.severity} /> <LinkTo finding={finding} />
            {children?.(finding)}
          </li>
        ))}
      </ul>
      {findings.length > 30 && <p>and {counted(findings.length - 30, 'more', 'more')}</p>}
    </Section>
  );
}

// Work that the thread sent elsewhere while it captured: it ran once and no replay repeats it.
function Outside({ faults }: { faults: CaptureFaults }) {
  if (faults.outside.length === 0) return null;
  return (
    <div class="outside">
      <FaultList title="Not in this graph" findings={faults.outside}>
        {(finding) => (
          <ul class="work">
            {(outsideWork(finding).length > 0 ? outsideWork(finding) : [finding.violation.api ?? finding.violation.rule]).map((text, i) => (
              <li key={i}>
                <span class="dot missing" aria-hidden="true">∅</span> {text}
                {finding.violation.stream ? ` on ${finding.violation.stream}` : ''}
              </li>
            ))}
          </ul>
        )}
      </FaultList>
    </div>
  );
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? grouped(value) : JSON.stringify(value);
}

function NodePanel({ node, graph, faults }: { node: CaptureNode; graph: Ordered; faults: CaptureFaults }) {
  const { place } = usePage();
  const at = graph.nodes.indexOf(node);
  const ends = (pick: 0 | 1) =>
    graph.edges.filter((edge) => edge[1 - pick] === at).slice(0, 12).map((edge) => graph.nodes[edge[pick]!]!);
  const links = (nodes: CaptureNode[]) =>
    nodes.map((one) => (
      <Go key={one.id} to={{ ...place, node: one.id }}>
        {grouped(one.id)} {one.kind}
      </Go>
    ));
  const facts: [string, preact.ComponentChildren][] = Object.entries(node)
    .filter(([, value]) => value !== '')
    .map(([key, value]) => [key, valueText(value)]);
  const before = ends(0);
  const after = ends(1);
  if (before.length > 0) facts.push(['after', <span class="links">{links(before)}</span>]);
  if (after.length > 0) facts.push(['before', <span class="links">{links(after)}</span>]);
  return (
    <>
      <Section title={`Node ${grouped(node.id)}`}>
        <Facts facts={facts} />
      </Section>
      <FaultList title="Findings of this node" findings={faults.byNode.get(node.id) ?? []} />
    </>
  );
}

function Legend({ nodes }: { nodes: CaptureNode[] }) {
  const kinds = useMemo(() => {
    const counts = new Map<string, number>();
    for (const { kind } of nodes) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]);
  }, [nodes]);
  return (
    <ul class="legend">
      {kinds.slice(0, 16).map(([kind, count]) => (
        <li key={kind}>
          <Dot kind={kind} faulty={false} /> {kind} × {grouped(count)}
        </li>
      ))}
    </ul>
  );
}

export function useGraph(capture: Capture | undefined) {
  const [collapse, setCollapse] = useState(true);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const graph = useMemo(() => (capture ? orderNodes(capture) : { nodes: [], edges: [], wrong: '' }), [capture]);
  const rows = useMemo(() => graphRows(graph.nodes, collapse, open), [graph, collapse, open]);
  return { graph, rows, collapse, setCollapse, open, setOpen };
}

export type GraphState = ReturnType<typeof useGraph>;

function Lanes({ capture, state, faults }: { capture: Capture; state: GraphState; faults: CaptureFaults }) {
  const { place } = usePage();
  const { graph, rows, collapse, setCollapse, open, setOpen } = state;
  const lanes = useMemo(() => lanesOf(graph, rows), [graph, rows]);
  const rowOf = useMemo(() => rowsByPlace(rows, graph.nodes.length), [graph, rows]);
  const link = linksTo({ ...place, capture: capture.id }, 'node');
  const chosen = graph.nodes.findIndex((node) => node.id === place.node);
  const hidden = graph.nodes.length - rows.filter((row) => row.kind === 'node').length;
  const faultsIn = (row: GraphRow & { kind: 'more' }) =>
    graph.nodes.slice(row.first, row.end).reduce((sum, node) => sum + (faults.byNode.get(node.id)?.length ?? 0), 0);
  return (
    <div class="drawing" style={`--gutter: ${drawingWidth(lanes)}px`}>
      <div class="toolbar">
        <label>
          <input type="checkbox" checked={collapse} onChange={() => { setCollapse(!collapse); setOpen(new Set()); }} /> Fold repeated layers
        </label>
        <span role="status">
          {counted(graph.nodes.length, 'node')}
          {hidden > 0 && `, ${grouped(hidden)} of them folded`}
        </span>
        <Legend nodes={graph.nodes} />
      </div>
      {graph.wrong && <p class="caution" role="alert">This graph cannot be right: {graph.wrong}. Its order below is a guess.</p>}
      <ul class="streams" aria-label="Lanes, from left to right">
        {lanes.streams.slice(0, 40).map((stream, i) => (
          <li key={stream}>{lanes.streams.length > 1 ? `${i + 1}: ` : ''}{stream}</li>
        ))}
      </ul>
      <VirtualList rows={rows} height={rowHeight} class="graph-rows" label={`Nodes of capture ${captureName(capture)}`}
        shown={chosen < 0 ? -1 : rowOf[chosen]!}
        keyOf={(row) => (row.kind === 'node' ? row.place : `more ${row.first}`)}
        background={(start, end) => <Drawing lanes={lanes} start={start} end={end} height={rows.length * rowSize} />}
        render={(row, index) => {
          if (row.kind === 'more')
            return <MoreRow row={row} lanes={lanes} index={index} faults={faultsIn(row)} open={() => setOpen(new Set([...open, row.first]))} />;
          const node = graph.nodes[row.place]!;
          return (
            <NodeRow node={node} lanes={lanes} row={index} faults={faults.byNode.get(node.id)?.length ?? 0} chosen={node.id === place.node}
              href={link(node.id)} />
          );
        }} />
    </div>
  );
}

export function GraphView({ capture, state }: { capture: Capture; state: GraphState }) {
  const { data, findings, place, go } = usePage();
  const faults = useMemo(() => faultsOf(capture, findings.all), [capture, findings]);
  const node = state.graph.nodes.find(({ id }) => id === place.node);
  const { captures } = data.report;
  return (
    <div class="graph">
      <div class="capture-line">
        <h1>Captured graph</h1>
        {captures.length > 1 && (
          <select aria-label="Capture" value={capture.id} onChange={(event) => go({ capture: event.currentTarget.value, node: null })}>
            {captures.slice(0, 500).map((one) => (
              <option key={one.id} value={one.id}>
                {captureName(one)}: {one.result === 'completed' ? counted(one.nodes.length, 'node') : resultText(one.result)}
              </option>
            ))}
          </select>
        )}
        <span>
          {resultText(capture.result)} on {capture.stream || 'its stream'}, device {capture.device}, mode {capture.mode}, thread {capture.thread},{' '}
          {duration(capture.duration_us)}, {counted(capture.replays, 'replay')}
        </span>
      </div>
      <div class="beside">
        {capture.nodes.length > 0 ? (
          <Lanes capture={capture} state={state} faults={faults} />
        ) : (
          <p class="empty">
            {capture.result === 'completed' ? 'The report does not hold the nodes of this capture.' : `There is no graph: the capture ${capture.result.startsWith('failed') ? '' : 'is '}${resultText(capture.result)}.`}
          </p>
        )}
        <aside class="panel" aria-labelledby="panel-title">
          <h2 id="panel-title" class="unseen">Node and findings</h2>
          {node ? <NodePanel node={node} graph={state.graph} faults={faults} /> : capture.nodes.length > 0 && <p>Click a node for its parameters.</p>}
          <Outside faults={faults} />
          <FaultList title={faults.byNode.size + faults.outside.length > 0 ? 'Other findings of this capture' : 'Findings of this capture'} findings={faults.others} />
        </aside>
      </div>
    </div>
  );
}
