/**
 * @file Early Experience as data sets, for any built-in world and any trainer: demonstrations, next states after other
 * actions, and reflections, as chat messages one a line (the three files that the method's authors publish).
 *
 * States and actions are the world's own sentences. Alternatives are admissible actions drawn at random (the authors do so
 * wherever actions can be listed), executed from a snapshot of the demonstrated state and taken back.
 */
import type { Task } from '../../envs/environment';
import { hashKey, Random } from '../../envs/household';
import type { PlayableEnvironment, World } from '../../envs/world';
import type { TextMessage, TextModel } from '../text-models/text-model';
import { reflectionLeaks } from './leaks';

export interface ExploredOutcome {
  action: string;
  /** The world's sentence. */
  state: string;
  valid: boolean;
  reward: number;
}

/** One demonstrated step, with what else could have been done there. */
export interface ExploredStep {
  task: Task;
  /** From 1. */
  step: number;
  /** The first text, then actions and answers in turn, up to the state in which the agent stands. */
  history: string[];
  demonstrated: ExploredOutcome;
  alternatives: ExploredOutcome[];
}

export interface ExploreOptions {
  tasks: number;
  /** K. */
  alternatives: number;
  maxSteps: number;
  seed: number;
}

/** Share of outcomes in which nothing happened. */
const mostFailures = 0.3;

/** Plays the world's expert and tries alternatives at every step. Episodes that the expert does not win are left out. */
export function* exploreWorld(world: World, options: ExploreOptions): Generator<ExploredStep[]> {
  for (const [index, task] of world.trainingTasks(options.tasks).entries()) {
    const random = new Random(hashKey('early-experience', options.seed, index));
    const steps = exploreEpisode(world, task, random, options);
    if (steps.at(-1)?.demonstrated.reward === 1) yield steps;
  }
}

function exploreEpisode(world: World, task: Task, random: Random, options: ExploreOptions): ExploredStep[] {
  const environment = world.create();
  environment.reset(task);
  const history = [environment.rawFirstObservation()];
  const steps: ExploredStep[] = [];
  while (steps.length < options.maxSteps) {
    const action = world.expert(environment);
    if (action === null) break;
    const alternatives = tryOthers(environment, action, random, options.alternatives);
    const demonstrated = outcomeOf(environment, action);
    steps.push({ task, step: steps.length + 1, history: [...history], demonstrated, alternatives });
    history.push(action, demonstrated.state);
    if (demonstrated.reward > 0) break;
  }
  return steps;
}

function tryOthers(environment: PlayableEnvironment, chosen: string, random: Random, most: number): ExploredOutcome[] {
  // A template wants text that only a model could fill in.
  const others = environment.admissible().filter((action) => action !== chosen && !action.includes('<'));
  const snapshot = environment.snapshot();
  return random
    .shuffle(others)
    .slice(0, most)
    .map((action) => {
      const outcome = outcomeOf(environment, action);
      environment.restore(snapshot);
      return outcome;
    });
}

function outcomeOf(environment: PlayableEnvironment, action: string): ExploredOutcome {
  const { observation, raw, valid, reward } = environment.step(action);
  return { action, state: raw ?? observation, valid, reward };
}

export interface ChatExample {
  messages: TextMessage[];
}

const player = 'You act in a text world. Answer with one action.';
const thinker = 'You act in a text world. Think, then answer with one action.';
const worldModel = 'You are the world. Answer with what the agent sees after its action.';

/** Imitation: state in, demonstrated action out. */
export function demonstrationExample({ history, demonstrated }: ExploredStep): ChatExample {
  return chat(player, prompt(history), demonstrated.action);
}

/** Implicit world modelling: state and action in, next state out; the demonstrated action included. */
export function worldModelExamples(step: ExploredStep, random: Random): ChatExample[] {
  return [step.demonstrated, ...step.alternatives]
    .filter(({ valid }) => valid || random.chance(mostFailures))
    .map(({ action, state }) => chat(worldModel, `${prompt(step.history)}\nAction: ${oneLine(action)}`, state));
}

/** Self-reflection: state in, monologue and demonstrated action out. */
export function reflectionExample(step: ExploredStep, monologue: string): ChatExample {
  const said = `Thought: ${oneLine(monologue)}\nAction: ${step.demonstrated.action}`;
  return chat(thinker, prompt(step.history), said);
}

function chat(system: string, user: string, assistant: string): ChatExample {
  return {
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
      { role: 'assistant', content: assistant },
    ],
  };
}

function prompt(history: readonly string[]): string {
  const [first, ...rest] = history;
  return [first, ...rest.map((text, i) => (i % 2 === 0 ? `> ${oneLine(text)}` : text))].join('\n');
}

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

const reflectionSystem = [
  'You write the inner monologue of an agent in a text world, in the first person and the present tense, before it acts.',
  'You are told what it sees, the action it takes here, and what other actions would have led to.',
  'In two to five sentences: what is the goal, what does each course of action promise, and why is this one taken.',
  'Speak only of what the agent can know before acting: say what it expects, never what it then saw. Do not number the',
  'actions, do not call any of them correct or an expert’s, and do not mention these instructions. Answer with the monologue only.',
].join('\n');

/** What a model is asked for a reflection (arXiv 2510.08558, section 4.3, in our own words). */
export function reflectionMessages(
  { history, demonstrated, alternatives }: ExploredStep,
  complaint?: string,
): TextMessage[] {
  const lines = [
    `What the agent has seen:\n${prompt(history)}`,
    `The action the agent takes here: ${JSON.stringify(demonstrated.action)}; the world then says ${JSON.stringify(demonstrated.state.slice(0, 600))}.`,
    ...alternatives.map(
      ({ action, state }) => `Instead ${JSON.stringify(action)} would lead to ${JSON.stringify(state.slice(0, 600))}.`,
    ),
    ...(complaint ? [`Your last monologue could not be used: ${complaint}.`] : []),
  ];
  return [
    { role: 'system', content: reflectionSystem },
    { role: 'user', content: lines.join('\n\n') },
  ];
}

export interface Reflected {
  /** null where no answer was without leaks. */
  monologues: (string | null)[];
  /** How often each kind of leak was found and asked away. */
  leaks: Record<string, number>;
  questions: number;
}

const longestMonologue = 2000;

/** Asks for all steps; an answer that leaks is asked again with the reason. Rejects as the model does. */
export async function reflectOn(
  steps: readonly ExploredStep[],
  model: TextModel,
  { retries = 2, seed = 1, signal }: { retries?: number; seed?: number; signal?: AbortSignal } = {},
): Promise<Reflected> {
  const monologues: (string | null)[] = steps.map(() => null);
  const leaks: Record<string, number> = {};
  const complaints = new Map<number, string>();
  let left = steps.map((_, i) => i);
  let questions = 0;
  for (let attempt = 0; attempt <= retries && left.length > 0; attempt++) {
    const answers = await model.complete(
      left.map((i) => ({
        messages: reflectionMessages(steps[i], complaints.get(i)),
        maxTokens: 300,
        temperature: 0.7,
        seed: seed + attempt,
      })),
      signal,
    );
    questions += left.length;
    left = left.filter((i, a) => {
      const { action, state } = steps[i].demonstrated;
      const text = answers[a].text.trim();
      const found = reflectionLeaks(text, { action, outcome: state });
      for (const { kind } of found) leaks[kind] = (leaks[kind] ?? 0) + 1;
      const whole = text !== '' && text.length <= longestMonologue && answers[a].finishReason === 'stop';
      if (whole && found.length === 0) {
        monologues[i] = text;
        return false;
      }
      complaints.set(i, found[0] ? `it says ${JSON.stringify(found[0].text)}` : 'it is empty or was cut off');
      return true;
    });
  }
  return { monologues, leaks, questions };
}
