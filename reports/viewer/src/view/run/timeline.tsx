// The trial over time: regions, captures, replays and blocking calls as bars on their threads.
import { useMemo, useState } from 'preact/hooks';
import type { Bar, TimelineThread } from '../../data/page_data';
import { isOpen, processName } from '../../model/findings';
import { barKinds, barText, drawnOf, exactTime, findingsByBar, kindNames, placed, placeOfBar, rowsOf, spanOf, threadsByRank, ticksOf, timeText, type BarRow, type Span } from '../../model/timeline';
import { counted, grouped } from '../../model/words';
import { LinkTo } from '../findings/detail';
import { Facts, Go, Section, SeverityMark } from '../parts';
import { usePage } from '../state';

const zooms = [1, 2, 4, 8, 16, 32, 64];

function BarButton({ bar, span, faulty, chosen, choose }: { bar: Bar; span: Span; faulty: boolean; chosen: boolean; choose: () => void }) {
  const { left, width } = placed(bar, span);
  const text = barText(bar);
  return (
    <button type="button" class={`time-bar ${bar.kind} ${faulty ? 'faulty' : ''}`} style={{ left: `${left}%`, width: `${width}%` }} title={text}
      aria-label={faulty ? `${text}; has a finding` : text} aria-pressed={chosen} onClick={choose}>
      <span>{bar.count > 1 ? `${bar.name} ×${grouped(bar.count)}` : bar.name}</span>
    </button>
  );
}

function Axis({ span, zoom }: { span: Span; zoom: number }) {
  return (
    <div class="axis" aria-hidden="true">
      {ticksOf(span, 6 * zoom).map((us) => (
        <span key={us} style={{ left: `${(100 * (us - span.from)) / (span.to - span.from)}%` }}>{timeText(us)}</span>
      ))}
    </div>
  );
}

function BarPanel({ bar, thread }: { bar: Bar; thread: string }) {
  const { data, findings } = usePage();
  const about = useMemo(() => findingsByBar(findings.all), [findings])(bar);
  const facts: [string, preact.ComponentChildren][] = [['thread', thread], ['from', exactTime(bar.begin_us)], ['to', exactTime(bar.end_us)]];
  if (bar.count > 1) facts.unshift(['times', grouped(bar.count)]);
  if (bar.busy_us > 0) facts.push([bar.kind === 'wait' ? 'host blocked' : 'lasted', timeText(bar.busy_us)]);
  if (placeOfBar(bar)) facts.push(['line', placeOfBar(bar)]);
  const graph = data.report.captures.find(({ id }) => id === bar.capture);
  return (
    <>
      <Section title={`${bar.kind}: ${bar.name}`}>
        <Facts facts={facts} />
      </Section>
      {graph && <p><Go to={{ view: 'graph', capture: graph.id }}>Show the graph, {counted(graph.nodes.length, 'node')}</Go></p>}
      {about.length > 0 && (
        <Section title="Findings here">
          <ul>
            {about.slice(0, 30).map((finding) => (
              <li key={finding.at}><SeverityMark severity={finding.violation.severity} /> <LinkTo finding={finding} /></li>
            ))}
          </ul>
          {about.length > 30 && <p>and {counted(about.length - 30, 'more', 'more')}</p>}
        </Section>
      )}
    </>
  );
}

interface ThreadProps {
  name: string;
  rows: BarRow[];
  span: Span;
  chosen: Bar | null;
  isFaulty: (bar: Bar) => boolean;
  choose: (bar: Bar) => void;
}

function Thread({ name, rows, span, chosen, isFaulty, choose }: ThreadProps) {
  return (
    <section aria-label={name}>
      <h2>{name}</h2>
      {rows.map(({ kind, bars }, i) => (
        <div key={i} class="time-row" role="group" aria-label={`${kindNames[kind]} of ${name}`}>
          {bars.map((bar, k) => (
            <BarButton key={k} bar={bar} span={span} faulty={isFaulty(bar)} chosen={bar === chosen} choose={() => choose(bar)} />
          ))}
        </div>
      ))}
    </section>
  );
}

// "main", and of which process where there are several.
function useNames(threads: TimelineThread[]): string[] {
  const { data } = usePage();
  return useMemo(() => {
    const processes = new Map(data.report.coverage.processes.map((one) => [String(one.pid), processName(one)]));
    const several = new Set(threads.map(({ process }) => process)).size > 1;
    return threads.map(({ process, thread }) => {
      const own = thread === 'main' ? 'main thread' : `thread ${thread}`;
      return several ? `${processes.get(process) ?? `process ${process}`}, ${own}` : own;
    });
  }, [data, threads]);
}

export function TimelineView() {
  const { data, findings } = usePage();
  const { left_out, threads } = useMemo(() => {
    const drawn = drawnOf(data.report.timeline!);
    return { ...drawn, threads: threadsByRank(drawn.threads, data.report.coverage.processes) };
  }, [data]);
  const [zoom, setZoom] = useState(0);
  const [chosen, setChosen] = useState<{ bar: Bar; thread: string } | null>(null);
  const span = useMemo(() => spanOf(threads), [threads]);
  const rows = useMemo(() => threads.map(rowsOf), [threads]);
  const names = useNames(threads);
  const faulty = useMemo(() => {
    const of = findingsByBar(findings.all.filter(({ violation }) => isOpen(violation)));
    return new Set(threads.flatMap(({ bars }) => bars.filter((bar) => of(bar).length > 0)));
  }, [threads, findings]);
  return (
    <div class="graph">
      <div class="capture-line">
        <h1>Timeline</h1>
        <span>{timeText(span.to - span.from)}; times are from the first event on</span>
        <button type="button" onClick={() => setZoom(Math.max(0, zoom - 1))} disabled={zoom === 0}>Zoom out</button>
        <button type="button" onClick={() => setZoom(Math.min(zooms.length - 1, zoom + 1))} disabled={zoom === zooms.length - 1}>Zoom in</button>
        <ul class="legend">
          {barKinds.filter((kind) => rows.some((own) => own.some((row) => row.kind === kind))).map((kind) => (
            <li key={kind}><span class={`swatch ${kind}`} aria-hidden="true" /> {kindNames[kind]}</li>
          ))}
          {faulty.size > 0 && <li><span class="swatch faulty" aria-hidden="true" /> with a finding</li>}
        </ul>
        {left_out > 0 && <span>{counted(left_out, 'shorter event')} left out</span>}
      </div>
      <div class="beside">
        <div class="times" tabIndex={0} role="region" aria-label="Threads over time">
          <div class="times-inner" style={{ width: `${100 * zooms[zoom]!}%` }}>
            <Axis span={span} zoom={zooms[zoom]!} />
            {threads.map((_, i) => (
              <Thread key={i} name={names[i]!} rows={rows[i]!} span={span} chosen={chosen?.bar ?? null} isFaulty={(bar) => faulty.has(bar)}
                choose={(bar) => setChosen({ bar, thread: names[i]! })} />
            ))}
          </div>
        </div>
        <aside class="panel" aria-labelledby="panel-title">
          <h2 id="panel-title" class="unseen">The chosen bar</h2>
          {chosen ? <BarPanel bar={chosen.bar} thread={chosen.thread} /> : <p>Click a bar for what it is and what was found there.</p>}
        </aside>
      </div>
    </div>
  );
}
