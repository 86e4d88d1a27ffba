// What ran and what was looked at: the ground that the verdict stands on.
import type { Report } from '../../data/page_data';
import { checkedText, factsOf } from '../../model/headline';
import { byRank } from '../../model/findings';
import { baseName, bytes, capitalised, duration, grouped, resultText } from '../../model/words';
import { Facts } from '../parts';
import { usePage } from '../state';

function Table({ title, head, rows }: { title: string; head: string[]; rows: (string | number)[][] }) {
  if (rows.length === 0) return null;
  return (
    <div class="table" tabIndex={0} role="region" aria-label={title}>
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>{head.map((name) => <th key={name} scope="col">{name}</th>)}</tr>
        </thead>
        <tbody>
          {rows.slice(0, 200).map((row, i) => (
            <tr key={i}>{row.map((cell, j) => <td key={j} class={typeof cell === 'number' ? 'number' : undefined}>{typeof cell === 'number' ? grouped(cell) : cell}</td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const metricNames: Record<string, string> = {
  allocs_per_step: 'allocations', blocked_us_per_step: 'host blocked', pageable_bytes_per_step: 'copied from or to pageable memory',
  waits_per_step: 'waits',
};

function metricText(name: string, value: number): string {
  if (name.includes('_us')) return duration(value);
  return name.includes('bytes') ? bytes(value) : grouped(value);
}

// The steps that all is counted over come last.
function metricRows(metrics: Record<string, number>): string[][] {
  const rows = Object.entries(metrics).filter(([name]) => name !== 'steps').map(([name, value]) => [Object.hasOwn(metricNames, name) ? metricNames[name]! : name.replace(/_/g, ' '), metricText(name, value)]);
  return metrics.steps === undefined ? rows : [...rows, ['steps that this is the mean of', grouped(metrics.steps)]];
}

// Without a column that is empty in every row.
function filled(head: string[], rows: (string | number)[][]): { head: string[]; rows: (string | number)[][] } {
  const kept = head.map((_, at) => rows.some((row) => row[at] !== ''));
  return { head: head.filter((_, at) => kept[at]), rows: rows.map((row) => row.filter((_, at) => kept[at])) };
}

function ending(report: Report): string {
  const { run } = report;
  if (!run) return '';
  if (run.stopped_by_user) return 'stopped by the user';
  if (run.signal !== null) return `signal ${run.signal}`;
  return run.exit_code === null ? 'unknown' : `exit code ${run.exit_code}`;
}

function more(report: Report): [string, string][] {
  const known = new Set(['program', 'build_id', 'commit', 'mode', 'buckets', 'sm', 'devices']);
  return Object.entries(report.subject)
    .filter(([key, value]) => !known.has(key) && typeof value === 'string' && value !== '')
    .map(([key, value]) => [capitalised(key.replace(/_/g, ' ')), value as string]);
}

export function Run() {
  const { data } = usePage();
  const { report } = data;
  const { coverage, environment } = report;
  const facts = factsOf(data);
  facts.push(['Report', data.file]);
  if (report.run && report.run.wall_s > 0) facts.push(['Ran for', duration(report.run.wall_s * 1e6)]);
  if (report.run) facts.push(['Whole command', report.run.argv.join(' ')], ['Ended', ending(report)]);
  if (environment.host) facts.push(['Host', environment.host]);
  if (environment.cupti.version) facts.push(['CUPTI', `${environment.cupti.version} ${environment.cupti.path}`]);
  return (
    <div class="page">
      <h1>The run</h1>
      <section class="card" aria-labelledby="run-facts">
        <h2 id="run-facts">Program and machine</h2>
        <Facts facts={[...facts, ...more(report)]} />
      </section>
      <section class="card" aria-labelledby="run-coverage">
        <h2 id="run-coverage">What was looked at</h2>
        <p>{checkedText(report)}.</p>
        {coverage.not_checked.length > 0 && (
          <>
            <h3>Not checked</h3>
            <ul>{coverage.not_checked.slice(0, 200).map((text, i) => <li key={i}>{text}</li>)}</ul>
          </>
        )}
        <Table title="Processes" {...filled(['Process', 'Rank', 'Program', 'Attached', 'Events', 'Dropped'],
          byRank(coverage.processes).map((one) => [String(one.pid), one.rank === undefined ? '' : String(one.rank), baseName(one.argv0), one.attached ? 'yes' : 'no', one.events, one.events_dropped]))} />
        <Table title="Regions" head={['Region', 'Marked by', 'Seen']} rows={coverage.regions.map((one) => [one.name, one.source, one.occurrences])} />
        <Table title="Captures" {...filled(['Capture', 'Bucket', 'Stream', 'Device', 'Mode', 'Thread', 'Result', 'Nodes', 'Replays'],
          report.captures.map((one) => [one.id, one.bucket ?? '', one.stream, String(one.device), one.mode, one.thread, resultText(one.result), one.nodes.length, one.replays]))} />
        <Table title="Per step" head={['Metric', 'Value']} rows={metricRows(report.metrics)} />
        <Table title="Made from" head={['Component', 'Verdict', 'SHA-256']} rows={report.inputs.map((one) => [one.component, one.verdict, one.digest])} />
      </section>
    </div>
  );
}
