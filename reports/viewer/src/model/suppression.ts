// How to allow one finding: the exact words, but for the reason, which only its owner knows.
import type { PageData, Violation } from '../data/page_data';

export const reasonWanted = 'WHY IT IS MEANT';

export function isPython(violation: Violation, data: PageData): boolean {
  const { file, line } = violation.location;
  if (/\.pyi?$/.test(file)) return true;
  return violation.stacks.some((stack) =>
    stack.frames.some((number) => {
      const frame = data.frames[number]!;
      return frame.file === file && frame.line === line && frame.language === 'python';
    }),
  );
}

// A comment on the line or the line above it; null where no line is known.
export function allowComment(violation: Violation, python: boolean): string | null {
  if (!violation.location.file || violation.location.line <= 0) return null;
  return `${python ? '#' : '//'} capgate-allow(${violation.rule}): ${reasonWanted}`;
}

// A line of a suppressions file: for code that is not yours to edit.
export function allowEntry(violation: Violation): string | null {
  const where = violation.location.file || violation.location.function;
  // '?' is any one character there, and a name cannot hold a space.
  return where ? `${violation.rule}:${where.replace(/[\s*]/g, '?')}  ${reasonWanted}` : null;
}
