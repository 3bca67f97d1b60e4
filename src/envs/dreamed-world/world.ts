/** @file A definition put to use: tasks, words for the experience model, memories, and the few checks the words allow. */
import { textHash } from '../../data/importers/hash';
import type { OfflineTransition } from '../../data/offline-transition';
import type { Turn } from '../../data/trajectory';
import type { Task } from '../environment';
import type { DreamedWorldDefinition } from './definition';

/** What `Task.data` of a dreamed world's task is. */
export interface DreamedTaskData {
  world: string;
  success?: readonly string[];
}

type SeenTurn = Pick<Turn, 'action' | 'observation'>;

/** The parts of an experience model's `TextWorld` that a definition can give (src/dream/text-models/world.ts). */
export interface DreamedWords {
  description: string;
  observationForm: string;
  failureObservation: string;
  endsInFailure: boolean;
  supportsSuccess(task: Task, firstObservation: string, turns: readonly SeenTurn[]): boolean | null;
  contradicts(firstObservation: string, turns: readonly SeenTurn[]): boolean;
  refusal(
    task: Task,
    firstObservation: string,
    turns: readonly SeenTurn[],
    action: string,
  ): { reasoning: string; observation: string } | null;
}

export interface DreamedWorld {
  readonly name: string;
  readonly summary: string;
  readonly maxSteps: number;
  readonly trainingTasks: readonly Task[];
  /** Empty when the definition holds none out. */
  readonly heldOutTasks: readonly Task[];
  readonly words: DreamedWords;
  readonly transitions: readonly OfflineTransition[];
}

export function dreamedWorld(definition: DreamedWorldDefinition): DreamedWorld {
  const { name, summary, maxSteps, tasks } = definition;
  const made = tasks.map((task) => ({ heldOut: task.heldOut, task: taskOf(task, name) }));
  return {
    name,
    summary,
    maxSteps,
    trainingTasks: made.filter(({ heldOut }) => !heldOut).map(({ task }) => task),
    heldOutTasks: made.filter(({ heldOut }) => heldOut).map(({ task }) => task),
    words: wordsOf(definition),
    // Each example is an episode of its own: retrieval never answers from the asking episode.
    transitions: definition.transitions.map((transition, i) => ({
      source: 'offline',
      episode: `${name}-example-${i}`,
      room: transition.room ?? name,
      task: transition.task,
      state: transition.state,
      action: transition.action,
      nextState: transition.nextState,
      reward: transition.reward,
    })),
  };
}

function taskOf(task: DreamedWorldDefinition['tasks'][number], name: string): Task {
  const instruction = task.instruction.replace(/\.$/, '');
  const room = task.room ?? name;
  const data: DreamedTaskData = { world: name, ...(task.success && { success: task.success }) };
  return {
    id: `${name}/${textHash(`${room}\n${instruction}\n${task.firstObservation}`)}`,
    instruction,
    room,
    family: task.family ?? name,
    firstObservation: task.firstObservation,
    data,
  };
}

function wordsOf({ systemPrompt, observationForm, failureText, endsInFailure, actions }: DreamedWorldDefinition) {
  const forms = actions?.map((template) => template.toLowerCase().split(/<[^<>]*>/));
  const fits = (action: string) =>
    forms === undefined || forms.some((form) => fitsForm(action.trim().toLowerCase(), form));
  const words: DreamedWords = {
    description: actions ? `${systemPrompt} Actions: ${actions.join('; ')}.` : systemPrompt,
    observationForm,
    failureObservation: failureText,
    endsInFailure,
    supportsSuccess(task, _, turns) {
      const wanted = (task.data as Partial<DreamedTaskData> | null)?.success;
      const last = turns.at(-1)?.observation.toLowerCase();
      if (!wanted || last === undefined) return null;
      return wanted.every((part) => last.includes(part.toLowerCase()));
    },
    contradicts(_, turns) {
      const last = turns.at(-1);
      return last !== undefined && last.observation !== failureText && !fits(last.action);
    },
    refusal: (_task, _first, _turns, action) =>
      fits(action) ? null : { reasoning: 'No action of this world has that form.', observation: failureText },
  };
  return words;
}

/**
 * Does the action have these fixed parts in this order, with something between them? The leftmost place of each part is
 * enough, so no template can make this slow.
 */
function fitsForm(action: string, parts: readonly string[]): boolean {
  const [first, ...rest] = parts;
  if (rest.length === 0) return action === first;
  if (!action.startsWith(first)) return false;
  const last = rest.pop()!;
  let at = first.length;
  for (const part of rest) {
    const found = action.indexOf(part, at + 1);
    if (found === -1) return false;
    at = found + part.length;
  }
  return action.endsWith(last) && action.length - last.length > at;
}
