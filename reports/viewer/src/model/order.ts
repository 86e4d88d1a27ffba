// The list as it is shown: sorted, with symptoms under their causes or under a heading for each group.
import type { Finding } from './findings';
import { lineOf } from './words';

export const orders = {
  report: 'importance', count: 'count', blocked: 'blocked time', place: 'file and line', rule: 'rule',
} as const;
export type Sorting = keyof typeof orders;

export const groupings = {
  cause: 'cause', none: 'nothing', rule: 'rule', file: 'file', severity: 'severity', phase: 'phase', ranks: 'ranks',
} as const;
export type Grouping = keyof typeof groupings;

export type Row = { heading: string; count: number } | { finding: Finding; below: boolean };

function comparison(sorting: Sorting): (a: Finding, b: Finding) => number {
  switch (sorting) {
    case 'report': return (a, b) => a.at - b.at;
    case 'count': return (a, b) => b.violation.count - a.violation.count || a.at - b.at;
    case 'blocked': return (a, b) => (b.violation.blocked_us ?? 0) - (a.violation.blocked_us ?? 0) || a.at - b.at;
    case 'rule': return (a, b) => compare(a.violation.rule, b.violation.rule) || a.at - b.at;
    case 'place':
      return (a, b) =>
        compare(a.violation.location.file, b.violation.location.file) ||
        a.violation.location.line - b.violation.location.line ||
        a.at - b.at;
  }
}

// By code units: fast, and the same on every machine.
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function groupOf(finding: Finding, grouping: Grouping): string {
  const { violation } = finding;
  switch (grouping) {
    case 'rule': return violation.rule;
    case 'file': return violation.location.file || 'no file';
    case 'severity': return violation.severity;
    case 'phase': return violation.phase;
    case 'ranks': return finding.ranks || 'one process';
    default: return '';
  }
}

export function rowsOf(kept: Finding[], sorting: Sorting, grouping: Grouping): Row[] {
  const sorted = sorting === 'report' ? kept : kept.slice().sort(comparison(sorting));
  if (grouping === 'none') return sorted.map((finding) => ({ finding, below: false }));
  if (grouping === 'cause') {
    const there = new Set(kept);
    const rows: Row[] = [];
    for (const finding of sorted) {
      if (finding.cause && there.has(finding.cause)) continue;
      rows.push({ finding, below: false });
      for (const symptom of finding.symptoms) if (there.has(symptom)) rows.push({ finding: symptom, below: true });
    }
    return rows;
  }
  const groups = new Map<string, Finding[]>();
  for (const finding of sorted) {
    const name = groupOf(finding, grouping);
    const group = groups.get(name);
    if (group) group.push(finding);
    else groups.set(name, [finding]);
  }
  const rows: Row[] = [];
  for (const [heading, group] of groups) {
    rows.push({ heading, count: group.length });
    for (const finding of group) rows.push({ finding, below: false });
  }
  return rows;
}

export function placeText(finding: Finding): string {
  const { location } = finding.violation;
  return lineOf(location) || location.function || 'no place in the code';
}
