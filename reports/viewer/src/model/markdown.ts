// A finding as Markdown, to paste into an issue or a review. What the report says must not become markup there.
import type { PageData } from '../data/page_data';
import { seenText } from './cost';
import type { Finding } from './findings';
import { fixOf, whyOf } from './fix';
import { foldedStack, frameText, moduleNames } from './stack';
import { allowComment, allowEntry, isPython } from './suppression';
import { counted, lineOf } from './words';

// Text between words: nothing in it is taken for markup, a link or a mention.
export function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]()<>#+!|~@&-]/g, (mark) => (mark === '<' ? '&lt;' : mark === '&' ? '&amp;' : `\\${mark}`)).replace(/\s+/g, ' ');
}

// A code span or a block that its own backticks cannot end.
function fence(text: string, least: number): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((ticks) => ticks.length));
  return '`'.repeat(Math.max(least, longest + 1));
}

function code(text: string): string {
  const ticks = fence(text, 1);
  const one = text.replace(/\s+/g, ' ');
  return ticks.length > 1 ? `${ticks} ${one} ${ticks}` : ticks + one + ticks;
}

function block(lines: string[], language = ''): string {
  const text = lines.join('\n');
  const ticks = fence(text, 3);
  return `${ticks}${language}\n${text}\n${ticks}`;
}

// Of each part: this is for a comment that people read.
const mostLines = 100;

export function markdownOf(finding: Finding, data: PageData): string {
  const { violation } = finding;
  const python = isPython(violation, data);
  const parts = [
    `### ${violation.severity}: ${escaped(violation.message)}`,
    `${code(violation.rule)} at ${code(lineOf(violation.location) || violation.location.function || 'an unknown place')}` +
      (violation.location.function ? ` in ${code(violation.location.function)}` : '') +
      ` (${escaped(seenText(violation, finding.ranks))})`,
  ];
  if (violation.source?.length) {
    const lines = violation.source.slice(0, mostLines);
    const width = Math.max(...lines.map(({ line }) => String(line).length));
    parts.push(block(lines.map(({ line, text }) =>
      `${line === violation.location.line ? '>' : ' '} ${String(line).padStart(width)} | ${text}`.trimEnd())));
  }
  const why = whyOf(violation, data);
  if (why) parts.push(escaped(why));
  const fix = fixOf(violation, data);
  if (fix.text) parts.push(`**Fix:** ${escaped(fix.text)}`);
  if (fix.code.length > 0) parts.push(block(fix.code, fix.language === 'Python' ? 'python' : 'cpp'));
  if (violation.flow?.length)
    parts.push(block(violation.flow.slice(0, mostLines).map((step) => `${step.file}:${step.line}: ${step.message}`)));
  const call = violation.stacks.find((stack) => stack.role === 'call') ?? violation.stacks[0];
  if (call) {
    parts.push(block(foldedStack(call.frames, violation, data).slice(0, mostLines).map((part) =>
      'fold' in part ? `… ${counted(part.fold.length, 'frame')} in ${moduleNames(part.fold)}` : frameText(part.frame, part.here))));
  }
  const comment = allowComment(violation, python) ?? allowEntry(violation);
  if (comment && !violation.suppressed) parts.push(`To allow it: ${code(comment)}`);
  parts.push(`Finding ${code(violation.id)} of ${code(data.file)}`);
  return parts.join('\n\n') + '\n';
}
