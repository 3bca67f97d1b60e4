/** @file How a real model plays the household in words: everything that shapes a run beside its configuration. */

export const constraints = ['admissible', 'none'] as const;
export const dreamForms = ['guided', 'free'] as const;

/** Plain data; a run keeps it beside its model, so that it goes on as it began. */
export interface TextSettings {
  /**
   * `admissible`: a turn is a short thought and then one of the actions that are possible now: the world's own list, or in
   * a dream what the transcript allows. `none`: any words; a turn ends with its `Action:` line.
   */
  constrain: (typeof constraints)[number];
  /** Most tokens of a constrained turn's thought. 0: act without thinking. */
  thoughtTokens: number;
  /** Write the possible actions into the prompt, as verl-agent does. */
  listActions: boolean;
  /**
   * `guided`: the engine's own experience model writes its answers into the household's sentences, and what the text has
   * decided already is given. `free`: any words, and what cannot be read is asked for again.
   */
  dreamForm: (typeof dreamForms)[number];
  /** Only tasks that the scripted expert fulfils within so many actions; 0 = all. Also of the evaluation. */
  expertSteps: number;
  /** Training episodes begin so many expert actions before their goal (head-start.ts); 0 = at the beginning. */
  headStart: number;
  /** Steps of imitation before the first iteration. */
  warmStart: number;
}

/** What a new run of a text model gets. */
export const defaultTextSettings: TextSettings = {
  constrain: 'admissible',
  thoughtTokens: 24,
  listActions: false,
  dreamForm: 'guided',
  expertSteps: 0,
  headStart: 0,
  warmStart: 0,
};

/** What runs of before these settings had. */
export const formerTextSettings: TextSettings = { ...defaultTextSettings, constrain: 'none', dreamForm: 'free' };

export const textSettingRanges = {
  thoughtTokens: { min: 0, max: 200, integer: true },
  expertSteps: { min: 0, max: 50, integer: true },
  headStart: { min: 0, max: 20, integer: true },
  warmStart: { min: 0, max: 10_000, integer: true },
} as const;
