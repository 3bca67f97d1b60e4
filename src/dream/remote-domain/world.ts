/**
 * @file A server's world as a model that speaks needs it: its tasks as they were named, its truth in so many sessions, and words
 * for the policy. Nobody knows its rules here, so nothing is checked, nobody demonstrates, and it is dreamed only when
 * someone has described it.
 */
import { type DreamedWorldDefinition, dreamedWorld } from '../../envs/dreamed-world';
import type { EnvironmentBatch, Task } from '../../envs/environment';
import {
  type ActionForm,
  dialectWords,
  exampleAction,
  formWords,
  mainField,
  type RemoteBatch,
  type RemoteServer,
  type RemoteTask,
  type RemoteTasks,
} from '../../envs/remote';
import { plainTextWorld } from '../text-models/world';
import type { SpokenWorld } from '../text-worlds';

export interface RemoteWorld extends SpokenWorld {
  readonly server: RemoteServer;
  /** Someone has described it: it can be dreamed as well as played. */
  readonly canDream: boolean;
  /** One and the same for every caller, one after another: sessions are kept between them. */
  truth(): EnvironmentBatch;
  /** Gives all sessions back. */
  close(): Promise<void>;
}

export interface RemoteWorldOptions {
  server: RemoteServer;
  tasks: RemoteTasks;
  /** Its sessions; closed with the world. */
  batch: RemoteBatch;
  /** Words, example steps and forms of actions for dreams. Its own tasks are not used: the server has others. */
  definition?: DreamedWorldDefinition;
  /** For the policy, instead of what the server or its dialect is known for: a dialect can be spoken by any world. */
  rules?: string;
}

/** Servers often say in the first observation what is wanted. */
const unsaid = 'do what you are asked below';
const failure = 'nothing happens';

export function remoteWorld({ server, tasks, batch, definition, rules: given }: RemoteWorldOptions): RemoteWorld {
  const name = nameOf(server);
  const room = definition ? name : undefined;
  const training = tasks.training.map((task) => taskOf(server, task, room));
  const heldOut = tasks.heldOut.map((task) => taskOf(server, task, room));
  const described = definition ? dreamedWorld(definition) : null;
  const actions = definition?.actions ?? choicesOf(server.form);
  const rules = rulesOf(server, given ?? described?.words.description);
  const truth: EnvironmentBatch = {
    imagined: false,
    capacity: batch.capacity,
    reset: (wanted, seed) => batch.reset(wanted, seed),
    step: (said) => batch.step(said),
    admissible(slot) {
      const told = batch.admissible?.(slot) ?? [];
      return told.length > 0 ? told : actions;
    },
  };
  return {
    name,
    server,
    canDream: described !== null,
    trainingTasks: () => training,
    heldOutTasks: (count) => heldOut.slice(0, count),
    truth: () => truth,
    memories: (limit) => (described?.transitions ?? []).slice(0, limit).map((memory) => ({ ...memory, room: name })),
    demonstrations: null,
    words: plainTextWorld(
      described?.words ?? {
        description: rules,
        observationForm: 'A few lines of plain words about what the agent now sees.',
        failureObservation: failure,
      },
    ),
    rules,
    exampleAction: exampleOf(server, definition),
    taskForm: training[0].instruction,
    // Only the server can judge a task: those it has.
    taskFrom: (_, instruction) => training.find((task) => task.instruction === instruction) ?? null,
    admissible: () => actions,
    roomOf: (given) => room ?? given,
    close: () => batch.close(),
  };
}

/** Of folders and cards: small letters, digits and hyphens. */
function nameOf({ target, name }: RemoteServer): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  return plain === '' || plain === target.kind ? target.kind : `${target.kind}-${plain}`;
}

function taskOf(server: RemoteServer, given: RemoteTask, sharedRoom: string | undefined): Task {
  const { instruction = unsaid, firstObservation = '', room, family, success } = given;
  const task = server.task({ ...given, instruction: instruction.replace(/\.$/, '') });
  return {
    ...task,
    firstObservation,
    room: room ?? sharedRoom ?? task.room,
    family: family ?? task.family,
    ...(success ? { data: { ...(task.data as object), success } } : {}),
  };
}

/** `told`: by whoever knows the world. */
function rulesOf({ target, name, description, form }: RemoteServer, told: string | undefined): string {
  if (target.kind === 'agentgym') return told ?? description;
  const about = told ?? (description === '' ? `You act in the world ${name}.` : description);
  return [about, ...(form ? formWords(form) : ['An action is one line of text.'])].join('\n');
}

function exampleOf({ target, form }: RemoteServer, definition: DreamedWorldDefinition | undefined): string {
  const told = definition?.actions?.[0] ?? definition?.transitions[0]?.action;
  if (told !== undefined) return told.replace(/[<>]/g, '');
  if (target.kind === 'agentgym') return dialectWords[target.dialect].exampleAction;
  return form ? exampleAction(form) : 'look';
}

/** All actions there are, where the form's main field can take a few values only. */
function choicesOf(form: ActionForm | null): readonly string[] {
  const main = form && mainField(form);
  if (main?.kind === 'choice') return (main.choices ?? []).map(String);
  return main?.kind === 'boolean' ? ['true', 'false'] : [];
}
