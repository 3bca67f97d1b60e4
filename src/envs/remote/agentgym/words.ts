/** @file What each AgentGym world is and how one acts in it, for people and for a policy's prompt. The words are ours. */
import type { DialectName } from './dialects';

export interface DialectWords {
  rules: string;
  /** An action, as an example of the form. */
  exampleAction: string;
}

export const dialectWords: Readonly<Record<DialectName, DialectWords>> = {
  textcraft: {
    rules:
      'You craft items from others by the recipes you are shown. get 2 oak log fetches what no recipe makes, craft 4 oak planks using 1 oak log follows a recipe exactly as it is written, inventory lists what you have. The task is done when the goal item is in your inventory.',
    exampleAction: 'get 2 oak log',
  },
  alfworld: {
    rules:
      'You are in a household and move things. go to cabinet 1, open cabinet 1, take mug 1 from cabinet 1, put mug 1 in/on desk 1 (in newer versions: move mug 1 to desk 1), clean, heat or cool a thing with its appliance, use desklamp 1, examine, look, inventory. You can hold one thing at a time.',
    exampleAction: 'go to cabinet 1',
  },
  webshop: {
    rules:
      'You shop for what the instruction asks. search[words] looks for products on the search page; click[text] presses a button, opens a product or chooses an option. When the right product and its options are chosen, click[buy now] ends the task.',
    exampleAction: 'search[blue cotton shirt]',
  },
  webarena: {
    rules:
      'You use web sites to fulfil an objective. Pages are lists of numbered elements: click [id], type [id] [text] [1] (1 presses Enter), hover [id], press [keys], scroll [down], goto [address], go_back, go_forward, new_tab, tab_focus [number], close_tab. stop [answer] ends the task.',
    exampleAction: 'click [12]',
  },
};
