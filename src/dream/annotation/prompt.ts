/**
 * @file What an annotator is asked (DreamGym, App. C.1-C.3, in our own words): a trajectory with its outcome goes in, one
 * reasoning trace for every transition comes out, as strict JSON.
 *
 * Everything from the trajectory is quoted as a JSON string: an observation cannot pretend to be an instruction.
 */
import type { Trajectory } from '../../data/trajectory';
import type { TextMessage } from '../text-models/text-model';

export interface AnnotationLimits {
  /** Transitions of one question; longer trajectories are asked in parts that overlap by nothing. */
  transitions: number;
  /** Of one observation, as shown. */
  characters: number;
}

export const defaultLimits: AnnotationLimits = { transitions: 12, characters: 800 };

const system = [
  'You teach a world model: a model that, given a state and an action of an agent, says what the environment does next.',
  'You are shown one episode of an agent with its outcome. For every step, write the reasoning that leads from the state',
  'before the step to the state after it: should the action work or fail here, for what reason, and what must the next',
  'state therefore show. Rely only on what is shown up to that step; never on later steps, and never on the next state',
  'itself, which you explain but do not quote.',
  'Answer with one JSON object and nothing else:',
  '{"tutorial":{"plan":"...","success":"...","failure":"..."},"transitions":[{"step":1,"reasoning":"..."}]}',
  'plan: how such a task is done; success and failure: how an episode succeeds or fails; one sentence each.',
  'transitions: exactly one entry per step shown, in order, with its number; reasoning: one to three sentences.',
].join('\n');

/** The question about `steps` (indices into turns). */
export function annotationMessages(
  { task, success, firstObservation, turns }: Trajectory,
  steps: readonly number[],
  limits: AnnotationLimits,
  complaint?: string,
): TextMessage[] {
  const quoted = (text: string) =>
    JSON.stringify(text.length > limits.characters ? `${text.slice(0, limits.characters)}…` : text);
  const before = steps[0] === 0 ? firstObservation : turns[steps[0] - 1].observation;
  const lines = [
    `Task: ${quoted(task.instruction)}`,
    `Outcome of the whole episode: ${success ? 'success' : 'failure'}`,
    `State before step ${steps[0] + 1}: ${quoted(before)}`,
    ...steps.flatMap((t) => [
      `Step ${t + 1} action: ${quoted(turns[t].action)}`,
      `Step ${t + 1} next state: ${quoted(turns[t].observation)}`,
    ]),
    `Write the JSON object with ${steps.length} transitions (steps ${steps[0] + 1} to ${steps.at(-1)! + 1}).`,
    ...(complaint ? [`Your last answer could not be used: ${complaint}`] : []),
  ];
  return [
    { role: 'system', content: system },
    { role: 'user', content: lines.join('\n') },
  ];
}
