// The list of findings with its facets, and beside it the one that is open.
import { useMemo } from 'preact/hooks';
import { filterFindings, type Filtered } from '../../model/facets';
import { groupings, rowsOf, orders, type Grouping, type Row, type Sorting } from '../../model/order';
import { linksTo, type Place } from '../../model/place';
import { counted, grouped } from '../../model/words';
import { Detail } from './detail';
import { Facets } from './facets';
import { FindingRow } from './finding_row';
import { Go } from '../parts';
import { usePage, type Model } from '../state';
import { VirtualList } from '../virtual_list';

const rowHeight = (row: Row) => ('heading' in row ? 34 : 76);

// The list as it is shown at a place; the keys j and k walk over it too. Made when it is first asked for.
export function useList(model: Model, place: Place): () => { filtered: Filtered; rows: Row[] } {
  const { choice, search, sort, group } = place;
  const filter = useMemo(() => once(() => filterFindings(model.facets(), choice, search)), [model, choice, search]);
  return useMemo(() => once(() => ({ filtered: filter(), rows: rowsOf(filter().kept, sort, group) })), [filter, sort, group]);
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}

function Choose<T extends string>({ label, words, value, set }: {
  label: string;
  words: Record<T, string>;
  value: T;
  set: (value: T) => void;
}) {
  return (
    <label class="choose">
      {label}{' '}
      <select value={value} onChange={(event) => set(event.currentTarget.value as T)}>
        {(Object.keys(words) as T[]).map((word) => (
          <option key={word} value={word}>
            {words[word]}
          </option>
        ))}
      </select>
    </label>
  );
}

function Toolbar({ filtered }: { filtered: Filtered }) {
  const { place, go, findings } = usePage();
  const narrowed = place.search !== '' || Object.keys(place.choice).length > 0;
  return (
    <div class="toolbar" role="search">
      <input id="search" type="search" placeholder="Search ( / )" aria-label="Search findings" value={place.search}
        autocomplete="off" spellcheck={false} onInput={(event) => go({ search: event.currentTarget.value }, true)} />
      <Choose<Sorting> label="Sort by" words={orders} value={place.sort} set={(sort) => go({ sort }, true)} />
      <Choose<Grouping> label="Group by" words={groupings} value={place.group} set={(group) => go({ group }, true)} />
      <span class="kept" role="status">
        {narrowed ? `${grouped(filtered.kept.length)} of ${counted(findings.all.length, 'finding')}` : counted(findings.all.length, 'finding')}
      </span>
      {narrowed && <Go to={{ view: 'findings', sort: place.sort, group: place.group }}>Show all</Go>}
    </div>
  );
}

export function FindingsView({ filtered, rows }: { filtered: Filtered; rows: Row[] }) {
  const { place, findings } = usePage();
  const open = findings.byId.get(place.id);
  const link = linksTo(place, 'id');
  const shown = open ? rows.findIndex((row) => 'finding' in row && row.finding === open) : -1;
  return (
    <div class={`findings ${open ? 'with-detail' : ''}`}>
      <h1 class="unseen">Findings</h1>
      <details class="facets" open={window.innerWidth > 900}>
        <summary>Filter</summary>
        <Facets filtered={filtered} />
      </details>
      <div class="list">
        <Toolbar filtered={filtered} />
        {rows.length === 0 && (
          <p class="empty">{findings.all.length === 0 ? 'The report has no findings.' : 'Nothing matches. Esc clears the search.'}</p>
        )}
        <VirtualList rows={rows} height={rowHeight} shown={shown} label="Findings" class="rows"
          keyOf={(row) => ('heading' in row ? `# ${row.heading}` : row.finding.at)}
          render={(row) =>
            'heading' in row ? (
              <h3 class="group">
                {row.heading} <span class="count">{grouped(row.count)}</span>
              </h3>
            ) : (
              <FindingRow finding={row.finding} below={row.below} open={row.finding === open}
                href={link(row.finding.violation.id)} />
            )
          } />
      </div>
      {open ? (
        <Detail key={open.at} finding={open} />
      ) : (
        <p class="choose-one">Choose a finding: click it, or press <kbd>j</kbd>.</p>
      )}
    </div>
  );
}
