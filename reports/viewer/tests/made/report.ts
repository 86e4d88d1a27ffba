// Reports made for tests: whole and consistent, so that capgate reads them like its own.
import type { Bar, Capture, CaptureNode, Frame, Report, Violation } from '../../src/data/page_data';

type Written<T> = Omit<T, 'stacks'> & { stacks: { role: string; frames: Omit<Frame, 'library'>[] }[] };
export type WrittenViolation = Written<Violation>;
export type WrittenReport = Omit<Report, 'violations' | 'subject'> & {
  schema: string;
  violations: WrittenViolation[];
  subject: Record<string, unknown>;
};

export function frame(parts: Partial<Frame>): Omit<Frame, 'library'> {
  return { language: 'native', file: '', line: 0, function: '', module: '', inlined: false, ...parts };
}

export function violation(number: number, parts: Partial<WrittenViolation> = {}): WrittenViolation {
  return {
    id: number.toString(16).padStart(16, '0'),
    rule: 'host-sync',
    severity: 'error',
    message: `the host waits for stream s${number}`,
    hint: 'keep the value on the device',
    evidence: ['runtime'],
    phase: 'capture',
    api: 'cudaStreamSynchronize',
    result: 'cudaErrorStreamCaptureUnsupported',
    count: 1,
    processes: [1],
    location: { file: 'engine/decode.cpp', line: 10 + number, function: 'decode()' },
    stacks: [],
    details: {},
    suppressed: null,
    baseline: null,
    ...parts,
  };
}

export function capture(id: string, parts: Partial<Capture> = {}): Capture {
  return {
    id, process: '1', stream: 's0', device: 0, mode: 'global', thread: 'main', result: 'completed', nodes: [], edges: [],
    straight_line: false, duration_us: 1200, replays: 3, ...parts,
  };
}

export function node(id: number, parts: Partial<CaptureNode> = {}): CaptureNode {
  return { id, kind: 'kernel', stream: 's0', name: `kernel_${id}`, ...parts };
}

export function bar(kind: Bar['kind'], begin_us: number, end_us: number, parts: Partial<Bar> = {}): Bar {
  return { kind, name: kind, begin_us, end_us, count: 1, busy_us: 0, ...parts };
}

// Nodes 0..n-1 in a chain.
export function chain(count: number): [number, number][] {
  return Array.from({ length: Math.max(0, count - 1) }, (_, i) => [i, i + 1]);
}

// The verdict and the summary follow from the rest.
export function report(parts: Partial<WrittenReport> = {}): WrittenReport {
  const made: WrittenReport = {
    schema: 'capgate-report/1',
    tool: { name: 'capgate', version: '0.1.0', component: 'detector' },
    verdict: 'pass',
    reasons: [],
    run: { argv: ['/opt/engine/decode', '--steps', '4'], exit_code: 0, signal: null, stopped_by_user: false, wall_s: 1.5 },
    inputs: [],
    subject: {
      program: 'decode', build_id: 'a1b2c3d4e5f60718', source_digest: '', code_digest: '', config_digest: '', mode: 'full',
      buckets: ['1', '2'], sm: '90', devices: 1, driver_branch: '580',
    },
    environment: {
      gpus: [{ index: 0, name: 'NVIDIA H200', sm: '90' }], driver: '580.159.04', cuda_runtime: '13.0',
      cupti: { path: '/usr/lib/libcupti.so', version: '130001' }, host: 'node1',
    },
    coverage: {
      kind: 'capture', cupti: 'attached',
      processes: [{ pid: 1, argv0: '/opt/engine/decode', attached: true, events: 100, events_dropped: 0 }],
      captures_completed: 1, captures_empty: 0, captures_failed: 0, captures_open: 0, replays: 3, regions: [], files_parsed: null,
      files_failed: null, not_checked: [],
    },
    metrics: { steps: 3, waits_per_step: 2 },
    captures: [],
    violations: [],
    summary: { errors: 0, warnings: 0, notes: 0, suppressed: 0 },
    ...parts,
  };
  const ids = new Set(made.violations.map(({ id }) => id));
  const summary: Record<string, unknown> & { by_rule: Record<string, number> } = { errors: 0, warnings: 0, notes: 0, suppressed: 0, by_rule: {} };
  const add = (key: string) => (summary[key] = ((summary[key] as number | undefined) ?? 0) + 1);
  for (const one of made.violations) {
    if (one.suppressed) {
      add('suppressed');
      continue;
    }
    add(one.symptom_of !== undefined && ids.has(one.symptom_of) ? 'symptoms' : `${one.severity}s`);
    summary.by_rule[one.rule] = (summary.by_rule[one.rule] ?? 0) + 1;
  }
  made.summary = summary as unknown as Report['summary'];
  if (made.violations.some((one) => one.severity === 'error' && !one.suppressed)) made.verdict = 'fail';
  else made.verdict = made.reasons.length > 0 ? 'inconclusive' : 'pass';
  return made;
}
