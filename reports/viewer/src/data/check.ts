// Whether data has the shape that the page relies on. The first thing that is wrong is named by its key: a page that was
// cut off or edited says so and shows nothing that might not be true.

// What is wrong, from the key where it is. The way to it is put together only then: most data is right, and large.
interface Wrong {
  key: string;
  what: string;
}
type Check = (value: unknown) => Wrong | null;

function kind(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'missing';
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function wrong(what: string): Wrong {
  return { key: '', what };
}

function under(key: string, inner: Wrong): Wrong {
  const joined = inner.key === '' || inner.key.startsWith('[') ? key + inner.key : `${key}.${inner.key}`;
  return { key: joined, what: inner.what };
}

const text: Check = (value) => (typeof value === 'string' ? null : wrong(`is ${kind(value)}, not a string`));
const number: Check = (value) => (Number.isFinite(value) ? null : wrong(`is ${kind(value)}, not a number`));
const flag: Check = (value) => (typeof value === 'boolean' ? null : wrong(`is ${kind(value)}, not a boolean`));
// A report may count further than JavaScript does exactly; what is shown is rounded then.
const whole: Check = (value) => (Number.isInteger(value) ? null : wrong(`is ${kind(value)}, not a whole number`));

function optional(check: Check): Check {
  return (value) => (value === undefined ? null : check(value));
}

function nullable(check: Check): Check {
  return (value) => (value === null ? null : check(value));
}

function word(...words: string[]): Check {
  return (value) => (words.includes(value as string) ? null : wrong(`is none of ${words.join(', ')}`));
}

function list(check: Check): Check {
  return firstOf(Infinity, check);
}

function firstOf(most: number, check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return wrong(`is ${kind(value)}, not a list`);
    for (let i = 0; i < Math.min(value.length, most); ++i) {
      const inner = check(value[i]);
      if (inner) return under(`[${i}]`, inner);
    }
    return null;
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function object(keys: Record<string, Check>): Check {
  const checks = Object.entries(keys);
  return (value) => {
    if (!isObject(value)) return wrong(`is ${kind(value)}, not an object`);
    for (const [name, check] of checks) {
      const inner = check(value[name]);
      if (inner) return under(name, inner);
    }
    return null;
  };
}

function map(check: Check): Check {
  return (value) => {
    if (!isObject(value)) return wrong(`is ${kind(value)}, not an object`);
    for (const name in value) {
      const inner = check(value[name]);
      if (inner) return under(name, inner);
    }
    return null;
  };
}

const texts = list(text);
const reason = object({ text, remedy: text });
const perStep = object({
  steps: number, count: number, blocked_us: optional(number), left_out: optional(list(object({ steps: number, why: text }))),
});

// A frame is a number into the table: one that leads nowhere would break every view of its stack.
function violation(frames: number): Check {
  const frame: Check = (value) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) < frames ? null : wrong('leads to no frame');
  return object({
    id: text, rule: text, severity: word('error', 'warning', 'note'), message: text, hint: text, evidence: texts, phase: text,
    situation: optional(text), symptom_of: optional(text), api: optional(text), result: optional(text), count: number,
    per_step: optional(perStep), processes: list(whole), bytes: optional(number), blocked_us: optional(number),
    capture: optional(text), nodes: optional(list(object({ capture: text, ids: list(whole) }))), device: optional(whole), stream: optional(text), thread: optional(text),
    location: object({ file: text, line: whole, function: text, column: optional(whole) }),
    source: optional(list(object({ line: whole, text }))),
    stacks: list(object({ role: text, frames: list(frame) })),
    flow: optional(list(object({ file: text, line: whole, message: text }))),
    details: map(text), suppressed: nullable(object({ reason: text, origin: text })), baseline: nullable(word('new', 'known')),
  });
}

const edge: Check = (value) =>
  Array.isArray(value) && value.length === 2 && value.every(Number.isInteger) ? null : wrong('is no pair of nodes');

const capture = object({
  id: text, process: text, bucket: optional(text), stream: text, device: whole, mode: text, thread: text, result: text,
  nodes: list(object({ id: whole, kind: text, stream: text, name: text })), edges: list(edge), straight_line: flag,
  duration_us: number, replays: number, nested: optional(flag),
});

const bar = object({
  kind: word('region', 'capture', 'replay', 'wait'), name: text, begin_us: number, end_us: number, count: whole, busy_us: number,
  capture: optional(text), file: optional(text), line: optional(whole),
});

function report(frames: number): Check {
  return object({
    tool: object({ name: text, version: text, component: text }),
    verdict: word('pass', 'fail', 'inconclusive'),
    reasons: list(reason),
    run: nullable(object({
      argv: texts, exit_code: nullable(whole), signal: nullable(whole), stopped_by_user: flag, wall_s: number,
    })),
    inputs: list(object({ component: text, digest: text, verdict: text })),
    subject: object({ program: text, build_id: text, mode: text, buckets: texts, sm: text, devices: nullable(whole) }),
    environment: object({
      gpus: list(object({ index: whole, name: text, sm: text })), driver: text, cuda_runtime: text,
      cupti: object({ path: text, version: text }), host: text, python: optional(text), torch: optional(text),
    }),
    coverage: object({
      kind: text, cupti: text,
      processes: list(object({
        pid: whole, rank: optional(whole), argv0: text, attached: flag, events: number, events_dropped: number,
      })),
      captures_completed: number, captures_empty: number, captures_failed: number, captures_open: number, replays: number,
      regions: list(object({ name: text, source: text, occurrences: number })),
      files_parsed: nullable(number), files_failed: nullable(number), not_checked: texts,
    }),
    metrics: map(number),
    captures: list(capture),
    timeline: optional(object({ left_out: whole, threads: list(object({ process: text, thread: text, bars: list(bar) })) })),
    violations: firstOf(checkedAtOnce, violation(frames)),
    summary: object({ errors: number, warnings: number, notes: number, suppressed: number }),
  });
}

const rule = object({
  id: text, title: text, fault: text, why: text, in_region: text, a_step: text, hint: text, fix: text, language: text, bad: text,
  good: text, seen_by: texts, related: texts,
});

// The first screen need not wait for the check of ten thousand violations: the others are checked after it.
export const checkedAtOnce = 200;

// What is wrong with one of the violations [from, to), or null.
export function wrongViolations(violations: unknown[], frames: number, from: number, to: number): string | null {
  const check = violation(frames);
  for (let i = from; i < Math.min(to, violations.length); ++i) {
    const inner = check(violations[i]);
    if (inner) return `${under(`report.violations[${i}]`, inner).key} ${inner.what}`;
  }
  return null;
}

// What is wrong with the data, or null.
export function wrongPageData(data: unknown): string | null {
  const frames = isObject(data) && Array.isArray(data.frames) ? data.frames.length : 0;
  const found = object({
    page: word('capgate-page/1'),
    file: text,
    frames: list(object({ language: text, file: text, line: whole, function: text, module: text, inlined: flag, library: flag })),
    report: report(frames),
    rules: list(rule),
    situations: list(object({ id: text, title: text, why: text, fix: text, python_fix: text, cpp: text, python: text, python_is_for_torch: flag })),
    claims: object({ headline: text, first: text, proved: texts, not_proved: list(reason) }),
    baseline: nullable(object({ file: text, fixed: list(violation(frames)) })),
  })(data);
  return found && `${found.key || 'the data'} ${found.what}`;
}
