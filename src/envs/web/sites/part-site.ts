/** @file A site whose state is one part of the sites' state: a POST changes that part, a GET shows it. */
import type { Answer, Page, Request, Site, SitesState } from '../site';

export interface PartSite<P extends keyof SitesState> extends Pick<Site, 'name' | 'host'> {
  part: P;
  /** The part after a POST (the same value where nothing changed), and where to go from there. */
  change(state: SitesState[P], request: Request): { readonly [K in P]: SitesState[K] } & { readonly redirect: string };
  pageAt(state: SitesState[P], request: Request): Page | { readonly redirect: string };
}

export function partSite<P extends keyof SitesState>({ name, host, part, change, pageAt }: PartSite<P>): Site {
  return {
    name,
    host,
    handle(state: SitesState, request: Request): Answer {
      if (request.method === 'POST') {
        const { [part]: changed, redirect } = change(state[part], request);
        return { state: changed === state[part] ? state : { ...state, [part]: changed }, redirect };
      }
      const answer = pageAt(state[part], request);
      return 'redirect' in answer ? { state, redirect: answer.redirect } : { state, page: answer };
    },
  };
}
