// What a finding costs, in the words of its numbers only: nothing is estimated.
import type { Violation } from '../data/page_data';
import { bytes, counted, duration, grouped } from './words';

export interface Cost {
  amount: string;
  label: string; // what there is so much of: "times per step"
}

function times(count: number, of: string): Cost {
  return { amount: grouped(count), label: `${count === 1 ? 'time' : 'times'} ${of}` };
}

// Older reports know the times per step only as a detail.
function perStep(violation: Violation): number | null {
  if (violation.per_step) return violation.per_step.count;
  const told = Number(violation.details['times a step']);
  return Number.isFinite(told) && told > 0 ? told : null;
}

export function costOf(violation: Violation): Cost[] {
  if (!violation.evidence.includes('runtime')) return [];
  const each = perStep(violation);
  const costs = [each === null ? times(violation.count, 'in the run') : times(each, 'per step')];
  const blocked = violation.per_step?.blocked_us;
  if (blocked !== undefined) costs.push({ amount: duration(blocked), label: 'host blocked per step' });
  else if (violation.blocked_us !== undefined) costs.push({ amount: duration(violation.blocked_us), label: 'host blocked in the run' });
  if (violation.bytes !== undefined) costs.push({ amount: bytes(violation.bytes), label: 'in all' });
  return costs;
}

// What the numbers per step are of: "over 3 steps; 1 left out: warm-up".
export function stepsText(violation: Violation): string {
  const { per_step: steps } = violation;
  if (!steps) return '';
  const left = (steps.left_out ?? []).map((part) => `${grouped(part.steps)} left out: ${part.why}`);
  return [`over ${counted(steps.steps, 'step')}`, ...left].join('; ');
}

// "4 times, the host was blocked for 32 µs, thread main, stream s1"
export function seenText(violation: Violation, ranks: string): string {
  if (!violation.evidence.includes('runtime')) return 'in the source';
  const parts = [counted(violation.count, 'time')];
  if (ranks) parts.push(`on ${ranks}`);
  if (violation.blocked_us !== undefined) parts.push(`the host was blocked for ${duration(violation.blocked_us)}`);
  if (violation.bytes !== undefined) parts.push(bytes(violation.bytes));
  if (violation.thread !== undefined) parts.push(`thread ${violation.thread}`);
  if (violation.stream !== undefined) parts.push(`stream ${violation.stream}`);
  if (violation.device !== undefined) parts.push(`device ${violation.device}`);
  if (violation.evidence.includes('static')) parts.push('seen in the source too');
  return parts.join(', ');
}
