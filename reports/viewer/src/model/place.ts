// What the page shows, as the part of its address after '#': it survives a reload, and a link to it can be sent.
import { facetNames, type Choice, type FacetName } from './facets';
import { groupings, orders, type Grouping, type Sorting } from './order';

export const views = ['overview', 'findings', 'graph', 'timeline', 'compared', 'run'] as const;
export type View = (typeof views)[number];

export interface Place {
  view: View;
  search: string;
  choice: Choice;
  sort: Sorting;
  group: Grouping;
  id: string; // the finding that is open
  capture: string;
  node: number | null;
}

export const start: Place = {
  view: 'overview', search: '', choice: {}, sort: 'report', group: 'cause', id: '', capture: '', node: null,
};

// Links that differ in one value only, for the rows of a long list.
export function linksTo(place: Place, key: 'id' | 'node'): (value: string | number) => string {
  const rest = hashOf({ ...place, ...(key === 'id' ? { id: '' } : { node: null }) });
  const before = `${rest}${rest.includes('?') ? '&' : '?'}${key}=`;
  return (value) => before + encodeURIComponent(value);
}

function isOne<T extends string>(word: string | null, of: Iterable<T>): word is T {
  return word !== null && [...of].includes(word as T);
}

export function hashOf(place: Place): string {
  const parts = new URLSearchParams();
  if (place.search) parts.set('q', place.search);
  for (const facet of facetNames) for (const value of place.choice[facet] ?? []) parts.append(facet, value);
  if (place.sort !== start.sort) parts.set('sort', place.sort);
  if (place.group !== start.group) parts.set('group', place.group);
  if (place.id) parts.set('id', place.id);
  if (place.capture) parts.set('in', place.capture);
  if (place.node !== null) parts.set('node', String(place.node));
  const rest = parts.toString();
  return `#${place.view}${rest ? `?${rest}` : ''}`;
}

// Whatever the address says, something that can be shown.
export function placeOf(hash: string): Place {
  const [view = '', rest = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  const parts = new URLSearchParams(rest);
  const choice: Choice = {};
  for (const facet of facetNames as readonly FacetName[]) {
    const values = parts.getAll(facet);
    if (values.length > 0) choice[facet] = [...new Set(values)];
  }
  const sort = parts.get('sort');
  const group = parts.get('group');
  const node = Number(parts.get('node') ?? NaN);
  return {
    view: isOne(view, views) ? view : start.view,
    search: parts.get('q') ?? '',
    choice,
    sort: isOne(sort, Object.keys(orders) as Sorting[]) ? sort : start.sort,
    group: isOne(group, Object.keys(groupings) as Grouping[]) ? group : start.group,
    id: parts.get('id') ?? '',
    capture: parts.get('in') ?? '',
    node: Number.isSafeInteger(node) ? node : null,
  };
}
