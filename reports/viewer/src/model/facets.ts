// Which findings a choice of facets and a search leave, and how many each further choice would leave.
import { isOpen, processName, type Finding } from './findings';
import type { Process } from '../data/page_data';

export const facetNames = [
  'severity', 'state', 'rule', 'evidence', 'phase', 'file', 'process', 'thread', 'device', 'capture',
] as const;
export type FacetName = (typeof facetNames)[number];
export type Choice = Partial<Record<FacetName, string[]>>;

export const facetTitles: Record<FacetName, string> = {
  severity: 'Severity', state: 'State', rule: 'Rule', evidence: 'Evidence', phase: 'Phase', file: 'File',
  process: 'Process or rank', thread: 'Thread', device: 'Device', capture: 'Capture',
};

function stateOf(finding: Finding): string[] {
  const { violation } = finding;
  const words: string[] = [];
  if (violation.suppressed) words.push('allowed');
  else if (violation.baseline) words.push(violation.baseline);
  if (finding.cause) words.push('symptom');
  else if (isOpen(violation)) words.push('cause');
  return words;
}

function valuesOf(finding: Finding, facet: FacetName, names: Map<number, string>): string[] {
  const { violation } = finding;
  switch (facet) {
    case 'severity': return [violation.severity];
    case 'state': return stateOf(finding);
    case 'rule': return [violation.rule];
    case 'evidence': return violation.evidence;
    case 'phase': return [violation.phase];
    case 'file': return [violation.location.file || 'no file'];
    case 'process': return violation.processes.map((pid) => names.get(pid) ?? `process ${pid}`);
    case 'thread': return violation.thread === undefined ? [] : [violation.thread];
    case 'device': return violation.device === undefined ? [] : [`device ${violation.device}`];
    case 'capture': return violation.capture === undefined ? [] : [violation.capture];
  }
}

interface Column {
  values: string[]; // in the order in which they first occur
  of: number[][]; // for each finding, indexes into values
}

export interface FacetIndex {
  findings: Finding[];
  columns: Record<FacetName, Column>;
}

export function indexFacets(findings: Finding[], processes: Process[]): FacetIndex {
  const names = new Map(processes.map((process) => [process.pid, processName(process)]));
  const columns = {} as Record<FacetName, Column>;
  for (const facet of facetNames) {
    const places = new Map<string, number>();
    const of = findings.map((finding) =>
      valuesOf(finding, facet, names).map((value) => {
        let place = places.get(value);
        if (place === undefined) places.set(value, (place = places.size));
        return place;
      }),
    );
    columns[facet] = { values: [...places.keys()], of };
  }
  return { findings, columns };
}

export interface FacetValue {
  value: string;
  count: number; // findings that choosing it would leave
  chosen: boolean;
}

export interface Filtered {
  kept: Finding[];
  facets: Record<FacetName, FacetValue[]>;
}

// Every word of the search must occur.
function wordsOf(search: string): string[] {
  return search.toLowerCase().split(/\s+/).filter((part) => part !== '');
}

export function filterFindings(index: FacetIndex, choice: Choice, search: string): Filtered {
  const words = wordsOf(search);
  const chosen = facetNames.map((facet) => {
    const wanted = choice[facet];
    if (!wanted || wanted.length === 0) return null;
    const { values } = index.columns[facet];
    return new Set(wanted.map((value) => values.indexOf(value)));
  });
  const counts = facetNames.map((facet) => new Array<number>(index.columns[facet].values.length).fill(0));
  const columns = facetNames.map((facet) => index.columns[facet].of);
  const kept: Finding[] = [];
  for (let i = 0; i < index.findings.length; ++i) {
    const finding = index.findings[i]!;
    if (!words.every((part) => finding.text.includes(part))) continue;
    // A facet counts what all other facets leave: its own choice must not make its other values look empty.
    let failed = -1;
    let failures = 0;
    for (let f = 0; f < columns.length && failures < 2; ++f) {
      const wanted = chosen[f];
      if (!wanted || columns[f]![i]!.some((value) => wanted.has(value))) continue;
      failed = f;
      ++failures;
    }
    if (failures > 1) continue;
    if (failures === 0) kept.push(finding);
    for (let f = 0; f < columns.length; ++f) {
      if (failures === 1 && f !== failed) continue;
      const row = counts[f]!;
      for (const value of columns[f]![i]!) row[value] = row[value]! + 1;
    }
  }
  const facets = {} as Record<FacetName, FacetValue[]>;
  facetNames.forEach((facet, f) => {
    facets[facet] = index.columns[facet].values
      .map((value, place) => ({ value, count: counts[f]![place]!, chosen: chosen[f]?.has(place) ?? false }))
      .sort((a, b) => Number(b.chosen) - Number(a.chosen) || b.count - a.count);
  });
  return { kept, facets };
}
