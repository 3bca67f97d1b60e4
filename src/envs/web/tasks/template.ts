/**
 * @file A task template: an instruction with blanks, what fills them, how success is told, and a way to get there.
 *
 * The way is a list of places to be at and forms to send; expert.ts finds the clicks. Because it says only what must be
 * reached, it can be taken up from anywhere.
 */
import type { PageTarget } from '../configs';
import type { SitesState } from '../site';

export type Waypoint =
  /** Be at this absolute address. */
  | { readonly at: string }
  /** Send the form with this action, filled in so. `done` tells from the state whether it was sent. */
  | { readonly submit: string; readonly fields: Readonly<Record<string, string>>; done(state: SitesState): boolean };

export interface Success {
  readonly answers?: Readonly<Record<string, string | readonly string[]>>;
  readonly url?: string;
  readonly pages?: readonly PageTarget[];
  readonly note?: string;
}

export interface Instance {
  /** What stands in the blanks. */
  readonly values: Readonly<Record<string, string>>;
  readonly success: Success;
  readonly way: readonly Waypoint[];
  /** What to say at the end; empty when nothing was asked. */
  readonly answer: string;
}

export type SiteName = 'shopping' | 'shopping_admin' | 'reddit' | 'gitlab' | 'map' | 'wikipedia';

export interface Template {
  /** Stable; the task's family. */
  readonly id: string;
  /** WebArena's name for the kind of site. */
  readonly site: SiteName;
  /** With `{{blank}}`s. */
  readonly intent: string;
  /** Default true: the user is signed in everywhere at the start. */
  readonly signedIn?: boolean;
  readonly instances: readonly Instance[];
}

/** An information task: be somewhere and say something. */
export const asked = (
  values: Readonly<Record<string, string>>,
  answers: Success['answers'],
  answer: string,
  places: readonly string[],
): Instance => ({ values, success: { answers }, way: places.map((at) => ({ at })), answer });

/** A change: forms are sent and pages show it afterwards. */
export const changed = (
  values: Readonly<Record<string, string>>,
  pages: readonly PageTarget[],
  way: readonly Waypoint[],
): Instance => ({ values, success: { pages }, way, answer: '' });

export const target = (
  url: string,
  locator: string,
  required: Readonly<Record<string, string | readonly string[]>>,
): PageTarget => ({ url, locator, required_contents: required });

export const at = (place: string): Waypoint => ({ at: place });

export const submit = (
  action: string,
  fields: Readonly<Record<string, string>>,
  done: (state: SitesState) => boolean,
): Waypoint => ({ submit: action, fields, done });
