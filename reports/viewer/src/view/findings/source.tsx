// The lines of source around a place, the place marked.
import type { SourceLine } from '../../data/page_data';
import { sharedIndent } from '../../model/words';

// A report quotes a few lines. Of one that quotes a whole file, those around the place.
const around = 50;

export function Source({ lines: all, marked, label }: { lines: SourceLine[]; marked: number; label: string }) {
  const middle = Math.max(0, all.findIndex(({ line }) => line === marked));
  const lines = all.slice(Math.max(0, middle - around), middle + around + 1);
  const indent = sharedIndent(lines.map(({ text }) => text));
  return (
    <div class="source" tabIndex={0} role="region" aria-label={label}>
      <table>
        <tbody>
          {lines.map(({ line, text }) => (
            <tr key={line} class={line === marked ? 'here' : undefined}>
              <th scope="row">
                {line === marked && <span class="arrow" title="this line">▶</span>}
                {line}
              </th>
              <td>
                <code>{text.slice(indent) || ' '}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Code({ lines, label }: { lines: string[]; label: string }) {
  return (
    <pre class="code" tabIndex={0} role="region" aria-label={label}>
      <code>{lines.join('\n')}</code>
    </pre>
  );
}
