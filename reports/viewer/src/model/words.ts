// Numbers and places in words, as the terminal view writes them.
import type { Location } from '../data/page_data';

// Made once: toLocaleString makes one for each number, which was half of a large report's first screen.
const figures = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });

export function grouped(value: number): string {
  return figures.format(value);
}

export function counted(value: number, noun: string, many = noun + 's'): string {
  return `${grouped(value)} ${value === 1 ? noun : many}`;
}

export function duration(us: number): string {
  if (us < 1000) return `${Math.round(us)} µs`;
  return us < 1e6 ? `${(us / 1e3).toFixed(1)} ms` : `${(us / 1e6).toFixed(1)} s`;
}

export function bytes(count: number): string {
  let value = count;
  for (const unit of ['B', 'KiB', 'MiB', 'GiB']) {
    if (value < 1024) return unit === 'B' ? `${value} B` : `${value.toFixed(1)} ${unit}`;
    value /= 1024;
  }
  return `${value.toFixed(1)} TiB`;
}

// "model/moe.py:212"
export function lineOf(at: Location): string {
  if (!at.file) return '';
  return at.line > 0 ? `${at.file}:${at.line}` : at.file;
}

// Of a capture: "failed with cudaErrorStreamCaptureInvalidated (901)".
export function resultText(result: string): string {
  if (result === 'open') return 'left open';
  return result.startsWith('failed:') ? `failed with ${result.slice('failed:'.length)}` : result;
}

// How many blanks or tabs all lines begin with: a method's body need not be shown far to the right.
export function sharedIndent(lines: string[]): number {
  const full = lines.filter((line) => line.trim() !== '');
  const first = full[0] ?? '';
  let size = first.length - first.trimStart().length;
  for (const line of full) while (!line.startsWith(first.slice(0, size))) --size;
  return size;
}

// "kernels::(anonymous namespace)::gemv<1>" without what is the same in every name and tells nobody anything.
export function shortName(name: string): string {
  return name.replaceAll('(anonymous namespace)::', '');
}

// A remedy that is a command, possibly with words behind it, or words alone.
export function remedyParts(remedy: string): { command: string; words: string } {
  if (!/^capgate [a-z]/.test(remedy)) return { command: '', words: remedy && capitalised(remedy) };
  const end = /[,;] /.exec(remedy)?.index ?? remedy.length;
  return { command: remedy.slice(0, end), words: remedy.slice(end + 2) };
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function list(words: string[], last = 'and'): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${last} ${words[words.length - 1]}`;
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
