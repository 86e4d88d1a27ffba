import { programOf, verdictWords } from '../model/headline';
import type { View } from '../model/place';
import { grouped } from '../model/words';
import { Go } from './parts';
import { usePage } from './state';
import { useTheme } from './theme';

export function Header({ help }: { help: () => void }) {
  const { data, findings, place } = usePage();
  const [theme, nextTheme] = useTheme();
  const graphs = data.report.captures.length;
  const tabs: [View, string, number | null][] = [
    ['overview', 'Overview', null],
    ['findings', 'Findings', findings.all.length],
  ];
  if (graphs > 0) tabs.push(['graph', graphs === 1 ? 'Graph' : 'Graphs', graphs === 1 ? null : graphs]);
  if (data.report.timeline?.threads.length) tabs.push(['timeline', 'Timeline', null]);
  if (data.baseline) tabs.push(['compared', 'Compared', null]);
  tabs.push(['run', 'Run', null]);
  const { verdict } = data.report;
  return (
    <header class="bar">
      <span class={`badge ${verdict}`}>{verdictWords[verdict]}</span>
      <span class="program" title={data.file}>{programOf(data.report)}</span>
      <nav aria-label="Parts of the page">
        {tabs.map(([view, name, count]) => (
          <Go key={view} to={{ view }} {...(place.view === view ? { 'aria-current': 'page' as const } : {})}>
            {name}
            {count !== null && <span class="count">{grouped(count)}</span>}
          </Go>
        ))}
      </nav>
      <button type="button" onClick={nextTheme} aria-label={`Theme: ${theme}`} title={`Theme: ${theme}`}>
        {theme === 'dark' ? '☾' : theme === 'light' ? '☀' : '◐'}
      </button>
      <button type="button" onClick={help} aria-label="Keys" title="Keys ( ? )">?</button>
    </header>
  );
}
