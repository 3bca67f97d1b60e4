/** @file What can be done with the page in view: for people, random players and constrained sampling. */
import { actionText } from './actions';
import type { View } from './browser';
import type { BrowserState } from './tabs';

const CLICKED = new Set(['link', 'button', 'checkbox', 'radio', 'menuitem']);
const TYPED = new Set(['textbox', 'searchbox', 'spinbutton']);

/** Sorted; free text stands as `<text>`, `<url>` or `<answer>`. */
export function admissibleActions(view: View, state: BrowserState): string[] {
  const found: string[] = ['stop [<answer>]', 'goto [<url>]', 'scroll [down]', 'scroll [up]', 'new_tab'];
  for (const { id, role, properties } of view.accessibility) {
    if (properties.includes('disabled: True')) continue;
    if (CLICKED.has(role)) found.push(actionText({ kind: 'click', id }));
    else if (TYPED.has(role)) found.push(`type [${id}] [<text>] [0]`, `type [${id}] [<text>] [1]`);
  }
  if (view.tab.at > 0) found.push('go_back');
  if (view.tab.at < view.tab.history.length - 1) found.push('go_forward');
  if (state.tabs.length > 1) {
    found.push('close_tab');
    state.tabs.forEach((_, index) => {
      if (index !== state.current) found.push(`tab_focus [${index}]`);
    });
  }
  return found.sort();
}
