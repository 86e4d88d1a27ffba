import { useEffect, useRef, useState } from 'preact/hooks';
import { useAddress } from './address';
import { Compared } from './run/compared';
import { FindingsView, useList } from './findings/findings';
import { GraphView, shownCapture, useGraph } from './graph/graph';
import { Header } from './header';
import { Help } from './help';
import { useKeys } from './keys';
import { Overview } from './run/overview';
import { Print } from './print';
import { Run } from './run/run';
import { PageContext, type Model } from './state';
import { TimelineView } from './run/timeline';

// The next place in a list that wraps nowhere.
function step(count: number, at: number, by: 1 | -1): number {
  return Math.max(0, Math.min(count - 1, at + by));
}

export function App({ model, printing }: { model: Model; printing: boolean }) {
  const [place, go] = useAddress();
  const [help, setHelp] = useState(false);
  const list = useList(model, place);
  const capture = shownCapture(model.data.report.captures, place.capture);
  const graph = useGraph(place.view === 'graph' ? capture : undefined);
  const main = useRef<HTMLElement>(null);

  // A new part of the page begins at its top.
  useEffect(() => scrollTo(0, 0), [place.view]);

  const moveFinding = (by: 1 | -1) => {
    const shown = list().rows.flatMap((row) => ('finding' in row ? [row.finding] : []));
    const at = shown.findIndex(({ violation }) => violation.id === place.id);
    const next = shown[at < 0 ? (by > 0 ? 0 : shown.length - 1) : step(shown.length, at, by)];
    if (next) go({ view: 'findings', id: next.violation.id }, true);
  };
  const moveNode = (by: 1 | -1) => {
    const shown = graph.rows.flatMap((row) => (row.kind === 'node' ? [graph.graph.nodes[row.place]!] : []));
    const at = shown.findIndex(({ id }) => id === place.node);
    const next = shown[at < 0 ? (by > 0 ? 0 : shown.length - 1) : step(shown.length, at, by)];
    if (next) go({ node: next.id }, true);
  };
  useKeys({
    search() {
      if (place.view !== 'findings') go({ view: 'findings' });
      // The field may only be drawn now.
      setTimeout(() => document.querySelector<HTMLInputElement>('#search')?.focus());
    },
    move: (by) => (place.view === 'graph' ? moveNode(by) : moveFinding(by)),
    enter() {
      if (place.view === 'findings' && place.id) {
        document.getElementById('detail-title')?.focus();
        return true;
      }
      const first = model.findings.causes[0] ?? model.findings.all[0];
      if (place.view !== 'overview' || !first) return false;
      go({ view: 'findings', id: first.violation.id });
      return true;
    },
    escape() {
      if (place.view === 'graph') go({ node: null }, true);
      else if (place.view === 'findings' && place.id) go({ id: '' });
      else if (place.view === 'findings') go({ search: '', choice: {} });
    },
    help: () => setHelp(true),
  });

  const page = { ...model, place, go };
  if (printing)
    return (
      <PageContext.Provider value={page}>
        <main><Print /></main>
      </PageContext.Provider>
    );
  return (
    <PageContext.Provider value={page}>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>Skip to the content</a>
      <Header help={() => setHelp(true)} />
      <main id="main" ref={main} tabIndex={-1} class={place.view}>
        {place.view === 'findings' && <FindingsView {...list()} />}
        {place.view === 'graph' && (capture ? <GraphView key={capture.id} capture={capture} state={graph} /> : <p class="empty">The report has no captures.</p>)}
        {place.view === 'timeline' && (model.data.report.timeline ? <TimelineView /> : <p class="empty">The report has no times.</p>)}
        {place.view === 'compared' && (model.data.baseline ? <Compared /> : <p class="empty">The page was made without a baseline.</p>)}
        {place.view === 'run' && <Run />}
        {place.view === 'overview' && <Overview />}
      </main>
      {help && <Help close={() => setHelp(false)} />}
    </PageContext.Provider>
  );
}
