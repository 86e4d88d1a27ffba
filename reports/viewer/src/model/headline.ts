// The first line of the page and the facts beneath it.
import type { PageData, Report } from '../data/page_data';
import { ranksAmong, type Findings } from './findings';
import { baseName, counted, grouped } from './words';

export const verdictWords = { pass: 'Pass', fail: 'Fail', inconclusive: 'Inconclusive' } as const;

export function programOf(report: Report): string {
  const sources = report.subject.sources;
  const run = report.run?.argv[0] ?? '';
  // What ran for a lint was capgate itself.
  if (report.coverage.kind === 'source') return baseName(report.subject.program) || (typeof sources === 'string' && sources) || 'the sources';
  const program = baseName(report.subject.program) || baseName(run) || 'the program';
  // An interpreter says little: the script is the program.
  const script = /^python[\d.]*$/.test(program) ? report.run?.argv.slice(1).find((word) => word.endsWith('.py')) : undefined;
  return script === undefined ? program : `${baseName(script)} (${program})`;
}

function gpusOf(report: Report): string {
  const names = new Map<string, number>();
  for (const gpu of report.environment.gpus) names.set(gpu.name || `sm_${gpu.sm}`, (names.get(gpu.name || `sm_${gpu.sm}`) ?? 0) + 1);
  return [...names].map(([name, count]) => (count > 1 ? `${count} × ${name}` : name)).join(', ');
}

// "3.12.3 (main, Aug 31 2026, …) [GCC 13.3.0]" is Python's whole story; its number is enough here.
function short(version: string): string {
  return version.split(' ')[0] ?? version;
}

function versionsOf(report: Report): string {
  const { environment, subject, tool } = report;
  const parts: string[] = [];
  if (environment.driver) parts.push(`driver ${environment.driver}`);
  if (environment.cuda_runtime) parts.push(`CUDA ${environment.cuda_runtime}`);
  if (environment.python) parts.push(`Python ${short(environment.python)}`);
  if (environment.torch) parts.push(`PyTorch ${environment.torch}`);
  if (typeof subject.transformers === 'string') parts.push(`transformers ${subject.transformers}`);
  parts.push(`capgate ${tool.version}`);
  return parts.join(', ');
}

function ranksOf(report: Report): string {
  const { processes } = report.coverage;
  if (processes.length < 2) return '';
  const ranks = processes.filter(({ rank }) => rank !== undefined).length;
  const others = processes.length - ranks;
  if (ranks === 0) return counted(others, 'process', 'processes');
  return counted(ranks, 'rank') + (others > 0 ? `, ${counted(others, 'other process', 'other processes')}` : '');
}

export function checkedText(report: Report): string {
  const { coverage } = report;
  const parts: string[] = [];
  if (coverage.captures_completed) parts.push(`${counted(coverage.captures_completed, 'capture')} completed`);
  if (coverage.captures_failed) parts.push(`${grouped(coverage.captures_failed)} failed`);
  if (coverage.captures_empty) parts.push(`${grouped(coverage.captures_empty)} empty`);
  if (coverage.captures_open) parts.push(`${grouped(coverage.captures_open)} left open`);
  if (coverage.replays) parts.push(counted(coverage.replays, 'replay'));
  for (const region of coverage.regions.filter(({ source }) => source !== 'lint').slice(0, 3))
    parts.push(`region "${region.name}" seen ${counted(region.occurrences, 'time')}`);
  const inSource = coverage.regions.filter(({ source }) => source === 'lint').length;
  if (coverage.files_parsed !== null) parts.push(`${counted(coverage.files_parsed, 'file')} parsed`);
  if (coverage.files_failed) parts.push(`${counted(coverage.files_failed, 'file')} not parsed`);
  if (inSource) parts.push(`${counted(inSource, 'region')} in the source`);
  return parts.join(', ') || 'nothing';
}

export function factsOf(data: PageData): [string, string][] {
  const { report } = data;
  const { subject } = report;
  const commit = typeof subject.commit === 'string' ? subject.commit : '';

  const facts: [string, string][] = [
    ['Program', programOf(report)],
    ['Commit', commit],
    ['Build', subject.build_id.slice(0, 12)],
    ['Mode', subject.mode],
    ['GPUs', gpusOf(report) || (subject.sm ? `sm_${subject.sm.replace(/^sm_?/, '')}` : '')],
    ['Versions', versionsOf(report)],
    ['Buckets', subject.buckets.join(', ')],
    ['Ranks', ranksOf(report)],
    ['Checked', checkedText(report)],
  ];
  return facts.filter(([, value]) => value !== '');
}

export interface Figure {
  value: string;
  label: string;
  state?: string; // the facet value it leads to
}

// How many ranks saw any cause.
function ranksWithCauses(data: PageData, findings: Findings): string {
  const among = ranksAmong(findings.causes.flatMap(({ violation }) => violation.processes), data.report.coverage.processes);
  return among && `on ${among}`;
}

export function figuresOf(data: PageData, findings: Findings): Figure[] {
  const { causes, symptoms } = findings;
  const marked = (state: 'new' | 'known') => causes.filter(({ violation }) => violation.baseline === state).length;
  const ranks = ranksWithCauses(data, findings);
  const label = `${causes.length === 1 ? 'cause' : 'causes'} to fix${ranks && causes.length > 0 ? ` ${ranks}` : ''}`;
  const figures: Figure[] = [causes.length > 0 ? { value: grouped(causes.length), label, state: 'cause' } : { value: '0', label }];
  if (data.baseline) {
    figures.push(
      { value: grouped(marked('new')), label: 'new since the baseline', state: 'new' },
      { value: grouped(marked('known')), label: 'known to the baseline', state: 'known' },
      { value: grouped(data.baseline.fixed.length), label: 'fixed since the baseline' },
    );
  }
  if (symptoms) figures.push({ value: grouped(symptoms), label: symptoms === 1 ? 'symptom of them' : 'symptoms of them', state: 'symptom' });
  const { notes, suppressed } = data.report.summary;
  if (notes) figures.push({ value: grouped(notes), label: notes === 1 ? 'note' : 'notes' });
  if (suppressed) figures.push({ value: grouped(suppressed), label: 'allowed', state: 'allowed' });
  return figures;
}
