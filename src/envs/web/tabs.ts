/** @file Tabs and their histories, as immutable values. */
import type { FieldValues } from './accessibility';
import type { SitesState } from './site';

/** Ten tabs and a hundred visits bound an episode's memory. */
export const MAX_TABS = 10;
const MAX_HISTORY = 100;
const NO_FIELDS: FieldValues = new Map();

export interface Tab {
  /** Addresses visited; `at` is the current one. */
  readonly history: readonly string[];
  readonly at: number;
  readonly fields: FieldValues;
  /** Id of the focused element, 0 for none. */
  readonly focus: number;
  /** Windows scrolled down in the abstract view. */
  readonly scroll: number;
}

export interface BrowserState {
  readonly sites: SitesState;
  readonly tabs: readonly Tab[];
  readonly current: number;
}

export const freshTab = (url: string): Tab => ({ history: [url], at: 0, fields: NO_FIELDS, focus: 0, scroll: 0 });

export const currentTab = (state: BrowserState): Tab => state.tabs[state.current];

export const withTab = (state: BrowserState, change: Partial<Tab>): BrowserState => ({
  ...state,
  tabs: state.tabs.map((tab, index) => (index === state.current ? { ...tab, ...change } : tab)),
});

export const openTab = (state: BrowserState): BrowserState => ({
  ...state,
  tabs: [...state.tabs, freshTab('about:blank')],
  current: state.tabs.length,
});

export function closeTab(state: BrowserState): BrowserState {
  const tabs = state.tabs.filter((_, index) => index !== state.current);
  // Upstream opens a blank page when the last tab is closed.
  return tabs.length === 0
    ? { ...state, tabs: [freshTab('about:blank')], current: 0 }
    : { ...state, tabs, current: tabs.length - 1 };
}

/** A tab at another address of its history shows that page anew. */
export const shownAt = (at: number): Partial<Tab> => ({ at, fields: NO_FIELDS, focus: 0, scroll: 0 });

/** What a visit makes of a tab: what lay ahead in its history is gone. */
export function visited(tab: Tab, url: string): Partial<Tab> {
  const history = [...tab.history.slice(0, tab.at + 1), url].slice(-MAX_HISTORY);
  return { history, ...shownAt(history.length - 1) };
}
