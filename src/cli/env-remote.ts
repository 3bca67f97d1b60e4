/**
 * @file `dream env play --remote`: the same game loop over a server. It answers when it likes, cannot go back and has no expert;
 * a broken connection loses the episode, and the loop says so in plain words.
 */
import type { Readable } from 'node:stream';
import { asDreamError, type DreamError } from '../data/errors';
import { parsePlainJson } from '../data/importers/plain-json';
import type { StepResult } from '../envs/environment';
import {
  connectRemote,
  formWords,
  type JsonObject,
  type RemoteEnvironment,
  type RemoteServer,
  remoteTarget,
  type TaskChoice,
} from '../envs/remote';
import type { CommandIo } from './command';
import type { PlayOptions } from './env-start';
import { gameLines, printable } from './game-lines';
import { nodeSocket } from './node-socket';
import { UsageError } from './options';

type RemotePlay = PlayOptions & { remote: string };

export const isRemote = (options: PlayOptions): options is RemotePlay => options.remote !== undefined;

const GAME_HELP = `Type an action for the server, or
  :form       how an action is written
  :commands   what the server would accept now, where it says so
  :state      what the server says of the episode (OpenEnv)
  :help       this
  :quit       leave
A server cannot take an action back (:undo) and has no expert (:hint).`;

interface Standing {
  steps: number;
  reward: number;
  done: boolean;
  lost: DreamError | null;
}

/** @throws UsageError, and what connecting and resetting throw (src/envs/remote/errors.ts) */
export async function playRemote(options: RemotePlay, io: CommandIo, input: Readable): Promise<number> {
  const choice = choiceOf(options);
  const server = await connectRemote(remoteTarget(options.remote, options.dialect), {
    openSocket: nodeSocket,
    ...(options.timeout === undefined ? {} : { timeoutMs: Math.round(options.timeout * 1000) }),
  });
  const environment = server.open();
  const task = server.task(choice);
  try {
    io.note(`connecting to ${server.display}…`);
    const first = await unlessStopped(environment.reset(task), io.signal);
    if (first === null) return 130;
    // Any world can be behind a dialect; what is known is the one that it comes from.
    const known = server.target.kind === 'agentgym' ? `the dialect ${server.name}, in AgentGym` : server.name;
    io.print(printable(`${known}${server.description === '' ? '' : `: ${server.description}`}`));
    io.print(printable(formHelp(server)));
    io.print('');
    io.print(printable(first));
    io.print(printable(`(${task.id}; :help for help)`));
    const end = await turns(server, environment, io, input);
    const { steps, reward, done, lost } = end;
    io.print(ending(end));
    io.result({
      env: server.name,
      remote: server.display,
      task: task.id,
      success: reward > 0 && lost === null,
      reward: lost ? 0 : reward,
      steps,
      done,
      lost: lost?.code ?? null,
    });
    return lost ? 1 : 0;
  } finally {
    await environment.close().catch(() => undefined);
  }
}

async function turns(
  server: RemoteServer,
  environment: RemoteEnvironment,
  io: CommandIo,
  input: Readable,
): Promise<Standing> {
  const standing: Standing = { steps: 0, reward: 0, done: false, lost: null };
  const left = new AbortController();
  const signal = AbortSignal.any([io.signal, left.signal]);
  for await (const words of gameLines(input, signal, () => left.abort())) {
    if (words === ':quit') break;
    if (words === '') continue;
    if (words.startsWith(':')) {
      io.print(printable(await answerTo(words, server, environment)));
      continue;
    }
    const result = await unlessStopped(Promise.resolve(environment.step(words)), signal);
    if (result === null) break;
    standing.steps++;
    if (result.lost) {
      standing.lost = environment.lostBecause;
      break;
    }
    standing.reward += result.reward;
    io.print(printable(`${result.observation}${rewardWords(result)}`));
    standing.done = result.done;
    if (result.done) break;
  }
  return standing;
}

const rewardWords = ({ reward }: StepResult): string => (reward === 0 ? '' : `\n(reward ${plainNumber(reward)})`);
const plainNumber = (value: number): string => String(Math.round(value * 1e4) / 1e4);

function ending({ steps, reward, done, lost }: Standing): string {
  const count = `${steps} ${steps === 1 ? 'step' : 'steps'}`;
  if (lost) return printable(`The episode was lost after ${count} and does not count. ${lost.message}\n${lost.advice}`);
  const outcome = `${count}; the reward is ${plainNumber(reward)}.`;
  return done ? `Over after ${outcome}` : `Left after ${outcome}`;
}

async function answerTo(words: string, server: RemoteServer, environment: RemoteEnvironment): Promise<string> {
  switch (words) {
    case ':form':
      return formHelp(server);
    case ':commands': {
      const { actions } = environment;
      return actions
        ? actions.join('\n')
        : 'This server does not say what it would accept. :form shows what it asks for.';
    }
    case ':state':
      if (!environment.state) return 'AgentGym servers tell no state; OpenEnv servers do.';
      try {
        return JSON.stringify(await environment.state(), null, 2);
      } catch (error) {
        const { message, advice } = asDreamError(error);
        return `${message} ${advice}`;
      }
    case ':undo':
      return 'A server cannot take an action back: there is no :undo here.';
    case ':hint':
      return 'Nobody knows the way on a server: there is no :hint here.';
    default:
      return GAME_HELP;
  }
}

function formHelp({ form, formProblem, target }: RemoteServer): string {
  if (form) return formWords(form).join('\n');
  if (target.kind === 'agentgym') return 'An action is one line of text.';
  const why = formProblem ? ` (${formProblem.message})` : '';
  return `The server's form could not be read${why}: what you type goes as {"message": …}; or write the whole action as JSON.`;
}

/** Null when the person left before the answer came. */
async function unlessStopped<T>(answer: Promise<T> | T, signal: AbortSignal): Promise<T | null> {
  let stop = () => {};
  const stopped = new Promise<null>((resolve) => {
    stop = () => resolve(null);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
  try {
    const work = Promise.resolve(answer);
    // Nobody waits for it any more once the person has left.
    work.catch(() => undefined);
    return await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Options of worlds on this machine mean nothing to a server. */
const local = ['held-out', 'size', 'room', 'grammar', 'helpful', 'domain', 'text-grammar', 'abstract'] as const;

function choiceOf(options: RemotePlay): TaskChoice {
  for (const name of local) {
    if (options[name] === undefined || options[name] === false) continue;
    throw new UsageError('bad-option', `--${name} does not go with --remote.`, '--help says what goes with what.');
  }
  const { dialect, seed, task } = options;
  if (dialect === undefined) return { seed, ...(task === undefined ? {} : { options: resetArguments(task) }) };
  const index = task === undefined ? 0 : Number(task);
  if (task !== undefined && !/^\d{1,15}$/.test(task.trim()))
    throw new UsageError(
      'bad-value',
      `--task cannot be "${task.slice(0, 60)}" on an AgentGym server.`,
      "Give the task's number in the server's own list, for example --task 3.",
    );
  return { index };
}

function resetArguments(text: string): JsonObject {
  try {
    const value: unknown = parsePlainJson(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  } catch {
    // Said below.
  }
  throw new UsageError(
    'bad-value',
    `--task cannot be "${text.slice(0, 60)}" on an OpenEnv server.`,
    'Give the arguments of its reset as a JSON object, for example --task \'{"episode_id": "e1"}\'.',
  );
}
