// A list of which only the rows near the visible part are in the page.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

const beyond = 10; // rows kept on either side, so that most scrolling changes nothing
const most = 150; // rows at a time, however tall the window is

interface Props<T> {
  rows: T[];
  height: (row: T) => number;
  keyOf: (row: T) => string | number;
  render: (row: T, index: number) => ComponentChildren;
  label: string;
  class?: string;
  shown?: number; // the row to bring into view when it changes
  background?: (start: number, end: number, offset: (row: number) => number) => ComponentChildren;
}

// The last row that begins at or above `at`.
function rowAt(offsets: Float64Array, at: number): number {
  let low = 0;
  let high = offsets.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (offsets[middle]! <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function VirtualList<T>({ rows, height, keyOf, render, label, class: name = '', shown, background }: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const offsets = useMemo(() => {
    const sums = new Float64Array(rows.length + 1);
    rows.forEach((row, i) => (sums[i + 1] = sums[i]! + height(row)));
    return sums;
  }, [rows, height]);
  const [range, setRange] = useState<[number, number]>([0, 40]);

  const update = (always: boolean) => {
    const { scrollTop = 0, clientHeight = 0 } = box.current ?? {};
    const first = rowAt(offsets, scrollTop);
    const last = Math.min(rows.length, rowAt(offsets, scrollTop + clientHeight) + 1);
    const [start, end] = range;
    const enough = first >= start && last <= end && end <= rows.length;
    if (enough && !always) return;
    const from = Math.max(0, first - beyond);
    const to = Math.min(rows.length, last + beyond, from + most);
    if (from !== start || to !== end) setRange([from, to]);
  };

  useLayoutEffect(() => update(true), [offsets]);
  useEffect(() => {
    const watch = new ResizeObserver(() => update(false));
    if (box.current) watch.observe(box.current);
    return () => watch.disconnect();
  });
  useLayoutEffect(() => {
    const list = box.current;
    if (!list || shown === undefined || shown < 0 || shown >= rows.length) return;
    const top = offsets[shown]!;
    const bottom = offsets[shown + 1]!;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
    update(false);
  }, [shown, offsets]);

  const start = Math.min(range[0], rows.length);
  const end = Math.min(range[1], rows.length);
  const offset = (row: number) => offsets[Math.min(row, rows.length)]!;
  return (
    <div class={`scroll ${name}`} ref={box} onScroll={() => update(false)} tabIndex={0} role="region" aria-label={label}>
      <div class="whole" style={{ height: `${offsets[rows.length]}px` }}>
        {background?.(start, end, offset)}
        <ol style={{ transform: `translateY(${offset(start)}px)` }}>
          {rows.slice(start, end).map((row, i) => (
            <li key={keyOf(row)} aria-setsize={rows.length} aria-posinset={start + i + 1}
              style={{ height: `${height(row)}px` }}>
              {render(row, start + i)}
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}
