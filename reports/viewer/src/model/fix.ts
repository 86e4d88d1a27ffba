// One fix for a finding: a sentence and two lines of code, from the situation where the report names one.
import type { PageData, Rule, Situation, Violation } from '../data/page_data';
import { isPython } from './suppression';

export interface Fix {
  text: string;
  code: string[];
  language: 'C++' | 'Python';
}

export function ruleOf(violation: Violation, data: PageData): Rule | undefined {
  return data.rules.find((rule) => rule.id === violation.rule);
}

export function situationOf(violation: Violation, data: PageData): Situation | undefined {
  return violation.situation === undefined ? undefined : data.situations.find((one) => one.id === violation.situation);
}

function lines(code: string): string[] {
  return code.split('\n').filter((line) => line.trim() !== '');
}

export function fixOf(violation: Violation, data: PageData): Fix {
  const situation = situationOf(violation, data);
  const inPython = isPython(violation, data);
  if (!situation) return { text: violation.hint, code: [], language: inPython ? 'Python' : 'C++' };
  const python = inPython && !(situation.python_is_for_torch && violation.details.torch === 'not loaded');
  const fix = (python && situation.python_fix) || situation.fix;
  return { text: violation.hint || fix, code: lines(python ? situation.python : situation.cpp), language: python ? 'Python' : 'C++' };
}

export function whyOf(violation: Violation, data: PageData): string {
  const situation = situationOf(violation, data);
  if (situation) return situation.why;
  return ruleOf(violation, data)?.why.split('\n\n')[0] ?? '';
}
