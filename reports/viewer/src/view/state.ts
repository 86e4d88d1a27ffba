// What every part of the page can reach: the data, what follows from it, where the reader is, and how to go elsewhere.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { PageData } from '../data/page_data';
import { indexFacets, type FacetIndex } from '../model/facets';
import { findingsOfPage, type Findings } from '../model/findings';
import type { Place } from '../model/place';

export interface Model {
  data: PageData;
  findings: Findings;
  facets(): FacetIndex; // made when it is first asked for: the first screen needs none
}

export function modelOf(data: PageData): Model {
  const findings = findingsOfPage(data);
  let index: FacetIndex | null = null;
  return { data, findings, facets: () => (index ??= indexFacets(findings.all, data.report.coverage.processes)) };
}

export interface Page extends Model {
  place: Place;
  // `quietly`: no new entry in the browser's history, as for each letter of a search.
  go(change: Partial<Place>, quietly?: boolean): void;
}

export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  return useContext(PageContext)!;
}
