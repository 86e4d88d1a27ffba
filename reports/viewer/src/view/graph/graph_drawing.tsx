// The lanes and lines left of the node names, for the rows in the page only.
import { linesBetween, type Lanes, type Line } from '../../graph/lanes';

export const rowSize = 26;
const widest = 260;

export function laneWidth(lanes: Lanes): number {
  return Math.max(6, Math.min(22, widest / lanes.streams.length));
}

export function drawingWidth(lanes: Lanes): number {
  return Math.ceil(laneWidth(lanes) * lanes.streams.length + 10);
}

function path(line: Line, width: number): string {
  const x = (lane: number) => lane * width + width / 2 + 5;
  const y = (row: number) => row * rowSize + rowSize / 2;
  const [x1, x2, y1, y2] = [x(line.fromLane), x(line.toLane), y(line.from), y(line.to)];
  if (x1 === x2) return `M${x1} ${y1}V${y2}`;
  // A fork goes to its own lane at once and down there; a join stays in its lane and comes over at the end.
  const bend = rowSize;
  if (line.turnsEarly) return `M${x1} ${y1}C${x1} ${y1 + bend / 2} ${x2} ${y1 + bend / 2} ${x2} ${y1 + bend}V${y2}`;
  return `M${x1} ${y1}V${y2 - bend}C${x1} ${y2 - bend / 2} ${x2} ${y2 - bend / 2} ${x2} ${y2}`;
}

export function Drawing({ lanes, start, end, height }: { lanes: Lanes; start: number; end: number; height: number }) {
  const width = laneWidth(lanes);
  const lines = linesBetween(lanes, start, end);
  const same = lines.filter((line) => line.fromLane === line.toLane);
  const across = lines.filter((line) => line.fromLane !== line.toLane);
  const draw = (some: Line[]) => some.map((line) => path(line, width)).join('');
  return (
    <svg class="lanes" width={drawingWidth(lanes)} height={height} aria-hidden="true">
      <path class="along" d={draw(same)} />
      <path class="across" d={draw(across)} />
    </svg>
  );
}
