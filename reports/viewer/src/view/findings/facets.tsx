import { useState } from 'preact/hooks';
import { facetNames, facetTitles, type FacetName, type FacetValue, type Filtered } from '../../model/facets';
import { grouped } from '../../model/words';
import { usePage } from '../state';

const few = 8;
const most = 60; // however long the report's list of files is

function Facet({ name, values }: { name: FacetName; values: FacetValue[] }) {
  const { place, go } = usePage();
  const [all, setAll] = useState(false);
  const chosen = place.choice[name] ?? [];
  const toggle = (value: string) => {
    const next = chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value];
    const { [name]: _, ...others } = place.choice;
    go({ choice: next.length > 0 ? { ...others, [name]: next } : others });
  };
  const shown = values.slice(0, all ? most : few);
  return (
    <fieldset>
      <legend>{facetTitles[name]}</legend>
      {shown.map(({ value, count, chosen: on }) => (
        <label key={value} class={count === 0 && !on ? 'none' : undefined} title={value}>
          <input type="checkbox" checked={on} onChange={() => toggle(value)} />
          <span class={`value ${name === 'file' ? 'path' : ''}`}><bdi>{value}</bdi></span>
          <span class="count">{grouped(count)}</span>
        </label>
      ))}
      {values.length > few && (
        <button type="button" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Fewer' : `${grouped(Math.min(values.length, most) - few)} more`}
        </button>
      )}
      {all && values.length > most && <p>Search finds the other {grouped(values.length - most)}.</p>}
    </fieldset>
  );
}

export function Facets({ filtered }: { filtered: Filtered }) {
  // A facet of one value chooses nothing.
  const useful = facetNames.filter((name) => filtered.facets[name].length > 1 || filtered.facets[name].some(({ chosen }) => chosen));
  return (
    <>
      {useful.map((name) => (
        <Facet key={name} name={name} values={filtered.facets[name]} />
      ))}
    </>
  );
}
