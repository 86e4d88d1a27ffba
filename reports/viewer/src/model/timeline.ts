// The trial over time: what each thread did, as rows of bars.
import type { Bar, Process, Timeline, TimelineThread } from '../data/page_data';
import { byRank, type Finding } from './findings';
import { counted, duration } from './words';

export const barKinds = ['region', 'capture', 'replay', 'wait'] as const;

export const kindNames: Record<Bar['kind'], string> = { region: 'Regions', capture: 'Captures', replay: 'Replays', wait: 'Blocking calls' };

const most = { bars: 1000, threads: 200 };

export interface Span {
  from: number;
  to: number;
}

export interface BarRow {
  kind: Bar['kind'];
  bars: Bar[]; // none of them overlaps another
}

// From the first bar to the end of the last one; never empty.
export function spanOf(threads: TimelineThread[]): Span {
  let from = Infinity;
  let to = -Infinity;
  for (const { bars } of threads)
    for (const bar of bars) {
      from = Math.min(from, bar.begin_us);
      to = Math.max(to, bar.end_us);
    }
  if (!(from <= to)) return { from: 0, to: 1 };
  return { from, to: to > from ? to : from + 1 };
}

// A row per kind; more of them where regions are inside each other.
export function rowsOf(thread: TimelineThread): BarRow[] {
  const rows: BarRow[] = [];
  for (const kind of barKinds) {
    const own: BarRow[] = [];
    const bars = thread.bars.filter((bar) => bar.kind === kind).sort((a, b) => a.begin_us - b.begin_us || b.end_us - a.end_us);
    for (const bar of bars) {
      const free = own.find(({ bars: before }) => before[before.length - 1]!.end_us <= bar.begin_us);
      if (free) free.bars.push(bar);
      else if (own.length < 8) own.push({ kind, bars: [bar] });
      else own[7]!.bars.push(bar);
    }
    rows.push(...own);
  }
  return rows;
}

// What is drawn of a timeline that holds more than a report of capgate's does: the longest bars and the first threads.
export function drawnOf({ left_out, threads }: Timeline): Timeline {
  const count = threads.reduce((sum, { bars }) => sum + bars.length, 0);
  const length = (bar: Bar) => bar.end_us - bar.begin_us;
  const longest = count > most.bars ? new Set(threads.flatMap(({ bars }) => bars).sort((a, b) => length(b) - length(a)).slice(0, most.bars)) : null;
  const kept = threads.map((thread) => (longest ? { ...thread, bars: thread.bars.filter((bar) => longest.has(bar)) } : thread)).filter(({ bars }) => bars.length > 0).slice(0, most.threads);
  return { left_out: left_out + count - kept.reduce((sum, { bars }) => sum + bars.length, 0), threads: kept };
}

// The threads of rank 0 first. A process that coverage does not know comes last.
export function threadsByRank(threads: TimelineThread[], processes: Process[]): TimelineThread[] {
  const order = new Map(byRank(processes).map(({ pid }, at) => [String(pid), at]));
  const at = ({ process }: TimelineThread) => order.get(process) ?? order.size;
  return [...threads].sort((a, b) => at(a) - at(b));
}

// Where a bar is drawn, in percent of the whole width.
export function placed(bar: Bar, span: Span): { left: number; width: number } {
  const whole = span.to - span.from;
  return { left: (100 * (bar.begin_us - span.from)) / whole, width: (100 * (bar.end_us - bar.begin_us)) / whole };
}

// Round times at which the axis is labelled: about `count` of them.
export function ticksOf(span: Span, count: number): number[] {
  const rough = (span.to - span.from) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? 10 * power;
  const ticks: number[] = [];
  for (let i = Math.ceil(span.from / step); i * step <= span.to && ticks.length <= 4 * count; ++i) ticks.push(i * step);
  return ticks;
}

// "12 µs", and what is less than that with a digit more.
export function timeText(us: number): string {
  return us > 0 && us < 10 ? `${us.toFixed(1)} µs` : duration(us);
}

// "132.612 ms": to the microsecond, so that the ends of a short bar differ.
export function exactTime(us: number): string {
  if (us < 1000) return timeText(us);
  return us < 1e6 ? `${(us / 1e3).toFixed(3)} ms` : `${(us / 1e6).toFixed(6)} s`;
}

export function placeOfBar(bar: Bar): string {
  return bar.file ? `${bar.file}${bar.line ? `:${bar.line}` : ''}` : '';
}

// "cudaStreamSynchronize at decode.cpp:12, 3 times, 45 µs in all, from 1.2 ms on"
export function barText(bar: Bar): string {
  const parts = [placeOfBar(bar) ? `${bar.name} at ${placeOfBar(bar)}` : bar.name];
  if (bar.count > 1) parts.push(counted(bar.count, 'time'));
  if (bar.busy_us > 0) parts.push(bar.count > 1 ? `${timeText(bar.busy_us)} in all` : timeText(bar.busy_us));
  return `${parts.join(', ')}, from ${timeText(bar.begin_us)} on`;
}

// What the report says of the line that a bar comes from, or of the capture that it is.
export function findingsByBar(findings: Finding[]): (bar: Bar) => Finding[] {
  const found = new Map<string, Finding[]>();
  const add = (key: string, finding: Finding) => {
    const list = found.get(key);
    if (list) list.push(finding);
    else found.set(key, [finding]);
  };
  for (const finding of findings) {
    const { capture, location } = finding.violation;
    add(`wait ${location.file}:${location.line}`, finding);
    if (capture !== undefined) add(`capture ${capture}`, finding);
  }
  return (bar) => {
    if (bar.kind === 'wait' && bar.file) return found.get(`wait ${bar.file}:${bar.line ?? 0}`) ?? [];
    return (bar.kind === 'capture' && found.get(`capture ${bar.capture}`)) || [];
  };
}
