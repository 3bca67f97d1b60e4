/**
 * @file What an agent can do in the browser, and how WebArena tells it afterwards what it did (the PREVIOUS ACTION text).
 */

export type Action =
  | { readonly kind: 'click'; readonly id: number }
  | { readonly kind: 'hover'; readonly id: number }
  | { readonly kind: 'type'; readonly id: number; readonly text: string; readonly enter: boolean }
  /** Chooses an option of a select by its label or value (BrowserGym, WebRL). */
  | { readonly kind: 'select'; readonly id: number; readonly option: string }
  | { readonly kind: 'press'; readonly keys: string }
  | { readonly kind: 'scroll'; readonly direction: 'up' | 'down' }
  | { readonly kind: 'goto'; readonly url: string }
  | { readonly kind: 'new_tab' }
  | { readonly kind: 'tab_focus'; readonly tab: number }
  | { readonly kind: 'close_tab' }
  | { readonly kind: 'go_back' }
  | { readonly kind: 'go_forward' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'stop'; readonly answer: string };

/** An action that names no element of the page or could not be read. */
export type Parsed = Action | { readonly kind: 'none'; readonly reason: string };

export const START_ACTION_TEXT = 'None';

export function badFormatText(prediction: string): string {
  return (
    `The previous prediction you issued was "${prediction}". However, the format was incorrect. ` +
    'Ensure that the action is wrapped inside a pair of ``` and enclose arguments within [] as follows: ```action [arg] ...```.'
  );
}

export function noElementText(action: string, id: number): string {
  return (
    `Attempt to perfom "${action}" on element "[${id}]" but no matching element found. ` +
    'Please check the observation more carefully.'
  );
}

/**
 * The action as WebArena writes it. With `element` (`role 'name' ...`, the observation line without its id) it reads as
 * PREVIOUS ACTION does; without it, it is a command that parses back into the same action.
 */
export function actionText(action: Action, element?: string): string {
  const where = (id: number): string => (element === undefined ? '' : ` where [${id}] is ${element}`);
  switch (action.kind) {
    case 'click':
    case 'hover':
      return `${action.kind} [${action.id}]${where(action.id)}`;
    case 'type':
      // Upstream prints no flag in PREVIOUS ACTION.
      return element === undefined
        ? `type [${action.id}] [${action.text}] [${action.enter ? 1 : 0}]`
        : `type [${action.id}] [${action.text}]${where(action.id)}`;
    case 'select':
      return `type [${action.id}] [${action.option}]${element === undefined ? ' [0]' : where(action.id)}`;
    case 'press':
      return `press [${action.keys}]`;
    case 'scroll':
      return `scroll [${action.direction}]`;
    case 'goto':
      return `goto [${action.url}]`;
    case 'tab_focus':
      return element === undefined ? `tab_focus [${action.tab}]` : `page_focus [${action.tab}]`;
    case 'stop':
      return `stop [${action.answer}]`;
    case 'wait':
      return 'wait';
    default:
      return action.kind;
  }
}

/** Same kind and same arguments: what early stopping counts as a repetition. */
export function sameAction(a: Parsed, b: Parsed): boolean {
  if (a.kind !== b.kind) return false;
  if (a.kind === 'none') return true;
  return actionText(a as Action) === actionText(b as Action);
}
