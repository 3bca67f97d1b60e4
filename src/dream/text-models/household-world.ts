/** @file The household in words, for a model that was never trained on its abstract language. */

import type { Domain } from '../domain';
import { isObservation } from '../transcripts';
import { type TextWorld, textWorldOf } from './world';

const description = [
  'A room with numbered receptacles (shelf 1, fridge 1) and numbered objects (cup 1, apple 2). One agent, two hands for one object.',
  'Actions: go to R; open R; close R; take O from R; put O in/on R (also: move O to R); clean O with R (a sinkbasin);',
  'heat O with R (a microwave or stove); cool O with R (a fridge); use LAMP; examine O or R; inventory; look.',
  'The agent must be at R to act on it, must hold O to put, clean, heat or cool it, and can hold one object only.',
  'Closed receptacles show nothing until they are opened. Objects stay where they are until the agent moves them.',
  'The task is done at the step that completes it: the right kind of object, treated as asked, put in the right kind of',
  'receptacle (or, for a lamp task, the lamp used while the object is held).',
].join(' ');

const observationForm = [
  'One line of lower-case words, no punctuation, exactly one of these forms:',
  '"at shelf 1 see cup 1 mug 2" | "at shelf 1 see nothing" | "at fridge 1 closed" | "at fridge 1 open see apple 1" |',
  '"open fridge 1 see apple 1" | "close fridge 1" | "take cup 1 shelf 1" | "put cup 1 shelf 1" | "clean cup 1 sinkbasin 1" |',
  '"heat apple 1 microwave 1" | "cool apple 1 fridge 1" | "use desklamp 1" | "carry cup 1" | "carry nothing" |',
  '"facing shelf 1 see nothing" | "state cup 1 clean" | "nothing happens" (the action was not possible).',
].join(' ');

export function householdTextWorld(
  domain: Pick<Domain, 'failureObservation' | 'supportsSuccess' | 'contradicts' | 'refusal' | 'dialect'>,
): TextWorld {
  return textWorldOf(domain, { description, observationForm, isObservation });
}
