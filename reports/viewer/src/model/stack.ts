// Stacks with the frames of libraries folded.
import type { Frame, PageData, Violation } from '../data/page_data';
import { baseName } from './words';

export type StackPart = { frame: Frame; here: boolean } | { fold: Frame[] };

// Of a long list what the page draws: a recursion may be thousands of frames deep.
export const mostParts = 100;

// How paths are compared: a report's location may be relative where the frame's file is not.
function sameFile(a: string, b: string): boolean {
  return a !== '' && (a === b || a.endsWith('/' + b) || b.endsWith('/' + a));
}

export function isLocation(frame: Frame, violation: Violation): boolean {
  return frame.line > 0 && frame.line === violation.location.line && sameFile(frame.file, violation.location.file);
}

// The innermost frame is the call itself and is always shown; two and more library frames in a row become one part.
export function foldedStack(frames: number[], violation: Violation, data: PageData): StackPart[] {
  const parts: StackPart[] = [];
  let marked = false;
  for (let i = 0; i < frames.length; ) {
    const frame = data.frames[frames[i]!]!;
    const here: boolean = !marked && isLocation(frame, violation);
    if (!here && i > 0 && frame.library) {
      const fold: Frame[] = [];
      for (; i < frames.length; ++i) {
        const next = data.frames[frames[i]!]!;
        if (!next.library || (!marked && isLocation(next, violation))) break;
        fold.push(next);
      }
      if (fold.length > 1) parts.push({ fold });
      else parts.push({ frame: fold[0]!, here: false });
      continue;
    }
    marked ||= here;
    parts.push({ frame, here });
    ++i;
  }
  return parts;
}

// The package of a Python file, else the library.
function moduleName(frame: Frame): string {
  if (frame.module) return baseName(frame.module);
  const path = frame.file.replace(/^.*\/(?:site|dist)-packages\//, '');
  return path.includes('/') ? path.slice(0, path.indexOf('/')) || baseName(path) : path;
}

export function moduleNames(frames: Frame[]): string {
  const names = [...new Set(frames.map(moduleName).filter((name) => name !== ''))];
  if (names.length === 0) return 'unnamed code';
  return names.length > 3 ? `${names.slice(0, 3).join(', ')}, …` : names.join(', ');
}

export function frameText(frame: Frame, here: boolean): string {
  const place = frame.file ? `${frame.file}:${frame.line}` : baseName(frame.module);
  return `${frame.function || 'unnamed'}  ${place}${frame.inlined ? ' (inlined)' : ''}${here ? '  <-' : ''}`;
}

export const roleTitles: Record<string, string> = {
  call: 'Call stack',
  allocated: 'Where the memory was allocated',
  captured: 'Where it was captured',
  freed: 'Where the memory was freed',
  forked: 'Where the stream was forked',
  origin: 'Where the capture began',
  mapped: 'Where the memory was mapped',
  unmapped: 'Where the memory was unmapped',
  registered: 'Where the memory was registered',
  unregistered: 'Where the registration ended',
  located: 'Where the variable’s address was asked for',
  unloaded: 'Where the module was unloaded',
  node: 'Where the node was made or changed',
  ended: 'Where the capture ended',
};
