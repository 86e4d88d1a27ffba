// Repetitions in a sequence: the layers of a model, which a captured step holds dozens of times.

export interface Repetition {
  start: number;
  period: number; // how many elements repeat
  times: number;
}

const longestPeriod = 512;

// Maximal runs of equal elements at one distance; with more than `period` of them the period repeats.
function runsOf(period: number, signature: Int32Array, found: Repetition[]): void {
  let run = 0;
  for (let i = signature.length - period - 1; i >= -1; --i) {
    if (i >= 0 && signature[i] === signature[i + period]) {
      ++run;
      continue;
    }
    const times = Math.floor(run / period) + 1;
    if (times > 1) found.push({ start: i + 1, period, times });
    run = 0;
  }
}

// Repetitions that do not overlap, the ones that save most first. What saves fewer than `least` elements is left alone.
export function repetitionsOf(names: string[], least = 3): Repetition[] {
  const numbers = new Map<string, number>();
  const signature = Int32Array.from(names, (name) => {
    let number = numbers.get(name);
    if (number === undefined) numbers.set(name, (number = numbers.size));
    return number;
  });
  const candidates: Repetition[] = [];
  for (let period = 1; period <= Math.min(longestPeriod, names.length >> 1); ++period) runsOf(period, signature, candidates);
  const saved = (one: Repetition) => (one.times - 1) * one.period;
  // Among equals the shortest period: a layer, not two layers at a time.
  candidates.sort((a, b) => saved(b) - saved(a) || a.period - b.period);
  const taken = new Uint8Array(names.length);
  const chosen: Repetition[] = [];
  for (const one of candidates) {
    if (saved(one) < least) break;
    const end = one.start + one.period * one.times;
    if (taken.subarray(one.start, end).some((there) => there === 1)) continue;
    taken.fill(1, one.start, end);
    chosen.push(one);
  }
  return chosen.sort((a, b) => a.start - b.start);
}
