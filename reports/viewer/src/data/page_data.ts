// The data in a page: the report's JSON (reports/schema/) with two changes that reports/viewer/page_data.cpp makes. Frames
// are numbers into one table, and texts are shortened and rid of characters that would mislead the eye. What newer reports
// add is optional here, so that a page shows older ones too.

export type Severity = 'error' | 'warning' | 'note';
export type Verdict = 'pass' | 'fail' | 'inconclusive';

export interface Frame {
  language: string;
  file: string;
  line: number;
  function: string;
  module: string;
  inlined: boolean;
  library: boolean; // not the user's code, by the settings of the machine that made the page
}

export interface Location {
  file: string;
  line: number;
  column?: number;
  function: string;
}

export interface SourceLine {
  line: number;
  text: string;
}

export interface Stack {
  role: string;
  frames: number[];
}

export interface FlowStep {
  file: string;
  line: number;
  message: string;
}

// Over the steps that count: a first pass that warms up and the like are left out, each with the reason.
export interface PerStep {
  steps: number;
  count: number;
  blocked_us?: number;
  left_out?: { steps: number; why: string }[];
}

// Nodes of one captured graph, by their numbers.
export interface NodesAtFault {
  capture: string;
  ids: number[];
}

export interface Violation {
  id: string;
  rule: string;
  severity: Severity;
  message: string;
  hint: string;
  situation?: string;
  symptom_of?: string;
  evidence: string[];
  phase: string;
  api?: string;
  result?: string;
  count: number;
  per_step?: PerStep;
  processes: number[];
  bytes?: number;
  blocked_us?: number;
  capture?: string;
  nodes?: NodesAtFault[];
  device?: number;
  stream?: string;
  thread?: string;
  location: Location;
  source?: SourceLine[];
  stacks: Stack[];
  flow?: FlowStep[];
  details: Record<string, string>;
  suppressed: null | { reason: string; origin: string };
  baseline: null | 'new' | 'known';
}

export interface CaptureNode {
  id: number;
  kind: string;
  stream: string;
  name: string;
  [parameter: string]: unknown;
}

export interface Capture {
  id: string;
  process: string;
  bucket?: string;
  stream: string;
  device: number;
  mode: string;
  thread: string;
  result: string;
  nodes: CaptureNode[];
  edges: [number, number][];
  straight_line: boolean;
  duration_us: number;
  replays: number;
  nested?: boolean;
}

// Times are microseconds from the first event of the run on.
export interface Bar {
  kind: 'region' | 'capture' | 'replay' | 'wait';
  name: string;
  begin_us: number;
  end_us: number;
  count: number; // of equal ones that are drawn as one
  busy_us: number; // what they lasted themselves; 0 where that was not measured
  capture?: string;
  file?: string;
  line?: number;
}

export interface TimelineThread {
  process: string;
  thread: string;
  bars: Bar[];
}

export interface Timeline {
  left_out: number;
  threads: TimelineThread[];
}

export interface Reason {
  text: string;
  remedy: string;
}

export interface Process {
  pid: number;
  rank?: number;
  argv0: string;
  attached: boolean;
  events: number;
  events_dropped: number;
}

export interface Report {
  tool: { name: string; version: string; component: string };
  verdict: Verdict;
  reasons: Reason[];
  run: null | {
    argv: string[];
    exit_code: number | null;
    signal: number | null;
    stopped_by_user: boolean;
    wall_s: number;
  };
  inputs: { component: string; digest: string; verdict: string }[];
  subject: { program: string; build_id: string; mode: string; buckets: string[]; sm: string; devices: number | null } & Record<
    string,
    unknown
  >;
  environment: {
    gpus: { index: number; name: string; sm: string }[];
    driver: string;
    cuda_runtime: string;
    cupti: { path: string; version: string };
    host: string;
    python?: string;
    torch?: string;
  };
  coverage: {
    kind: string;
    cupti: string;
    processes: Process[];
    captures_completed: number;
    captures_empty: number;
    captures_failed: number;
    captures_open: number;
    replays: number;
    regions: { name: string; source: string; occurrences: number }[];
    files_parsed: number | null;
    files_failed: number | null;
    not_checked: string[];
  };
  metrics: Record<string, number>;
  captures: Capture[];
  timeline?: Timeline;
  violations: Violation[];
  summary: { errors: number; warnings: number; notes: number; suppressed: number };
}

export interface Rule {
  id: string;
  title: string;
  fault: string;
  why: string;
  in_region: string;
  a_step: string;
  hint: string;
  fix: string;
  language: string;
  bad: string;
  good: string;
  seen_by: string[];
  related: string[];
}

// A more exact cause than the rule (reports/catalogue/situations.h): why it bites in this place, and the fix as two lines of
// code in each language. A text is empty where a language cannot have the situation.
export interface Situation {
  id: string;
  title: string;
  why: string;
  fix: string;
  python_fix: string;
  cpp: string;
  python: string;
  python_is_for_torch: boolean; // it helps nobody whose process does not load PyTorch
}

// What the verdict stands on, as the terminal says it.
export interface Claims {
  headline: string;
  first: string; // the finding to begin with, empty for none
  proved: string[];
  not_proved: Reason[];
}

export interface Baseline {
  file: string;
  fixed: Violation[]; // in the baseline and no longer in the report
}

export interface PageData {
  page: 'capgate-page/1';
  file: string; // the report that the page was made from
  report: Report;
  frames: Frame[];
  rules: Rule[];
  situations: Situation[];
  claims: Claims;
  baseline: null | Baseline;
}
