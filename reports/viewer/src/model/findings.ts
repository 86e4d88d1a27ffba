// The report's violations with what follows from the whole: which is a cause, which a symptom of one, who saw it.
import type { PageData, Process, Violation } from '../data/page_data';
import { grouped, lineOf } from './words';

export interface Finding {
  violation: Violation;
  at: number; // its place in the report, which is the order of importance
  cause: Finding | null; // it would go away with this one
  symptoms: Finding[];
  ranks: string; // "8 of 8 ranks", empty for a run of one process
  text: string; // what free text searches, in lower case; made when it is first asked for
}

export interface Findings {
  all: Finding[];
  byId: Map<string, Finding>;
  causes: Finding[]; // what to fix: unsuppressed errors and warnings that are no symptoms, worst first
  symptoms: number;
}

export function processName(process: Process): string {
  return process.rank === undefined ? `process ${process.pid}` : `rank ${process.rank}`;
}

// Ranks in their order; what has none comes last, as the report has it.
export function byRank(processes: Process[]): Process[] {
  return [...processes].sort((a, b) => (a.rank ?? Infinity) - (b.rank ?? Infinity) || 0);
}

// How many ranks these processes are, where the program has ranks and one of them is: a launcher has none.
export function ranksAmong(pids: Iterable<number>, processes: Process[]): string {
  const wanted = new Set(pids);
  if (processes.length < 2 || wanted.size === 0) return '';
  const ranked = processes.filter((process) => process.rank !== undefined);
  const noun = ranked.length > 0 ? 'ranks' : 'processes';
  const among = ranked.length > 0 ? ranked : processes;
  const seen = among.filter(({ pid }) => wanted.has(pid)).length;
  return seen === 0 ? '' : `${grouped(seen)} of ${grouped(among.length)} ${noun}`;
}

function searched(violation: Violation): string {
  const { location } = violation;
  return [
    violation.rule, violation.message, lineOf(location), location.function, violation.api, violation.stream, violation.thread,
    violation.capture, violation.id, violation.suppressed?.reason, ...Object.values(violation.details),
  ].join('\n').toLowerCase();
}

class Found implements Finding {
  cause: Finding | null = null;
  symptoms: Finding[] = [];
  private found: string | null = null;

  constructor(readonly violation: Violation, readonly at: number, readonly ranks: string) {}

  get text(): string {
    return (this.found ??= searched(this.violation));
  }
}

export function isOpen(violation: Violation): boolean {
  return violation.suppressed === null && violation.severity !== 'note';
}

const gravity = { error: 2, warning: 1, note: 0 };

// As reports/verdict/causes.cpp counts: a cause that is allowed or less grave hides nothing, nor does one that is itself a symptom.
function hides(cause: Violation, symptom: Violation): boolean {
  return cause.symptom_of === undefined && cause.suppressed === null && symptom.suppressed === null && gravity[cause.severity] >= gravity[symptom.severity];
}

export function findingsOf(violations: Violation[], processes: Process[]): Findings {
  const all = violations.map((violation, at): Finding => new Found(violation, at, ranksAmong(violation.processes, processes)));
  const byId = new Map<string, Finding>();
  for (const finding of all) if (!byId.has(finding.violation.id)) byId.set(finding.violation.id, finding);
  let symptoms = 0;
  for (const finding of all) {
    const cause = finding.violation.symptom_of === undefined ? undefined : byId.get(finding.violation.symptom_of);
    if (!cause || cause === finding || !hides(cause.violation, finding.violation)) continue;
    finding.cause = cause;
    cause.symptoms.push(finding);
    ++symptoms;
  }
  const causes = all.filter((finding) => finding.cause === null && isOpen(finding.violation));
  return { all, byId, causes, symptoms };
}

export function findingsOfPage(data: PageData): Findings {
  const findings = findingsOf(data.report.violations, data.report.coverage.processes);
  // The verdict's own first cause, so that the page and its headline speak of one thing.
  const first = findings.causes.findIndex(({ violation }) => violation.id === data.claims.first);
  if (first > 0) findings.causes.unshift(...findings.causes.splice(first, 1));
  return findings;
}
