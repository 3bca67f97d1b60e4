/** @file A person's visit to an environment server: where, which task, what was done, what went wrong. */
import { computed, signal } from '@preact/signals';
import type { Remote } from 'comlink';
import { asDreamError } from '../../data/errors';
import type { JsonObject, RemoteTarget } from '../../envs/remote';
import { type DialectName, dialects } from '../../envs/remote/agentgym/dialects';
import type { WorkerConnection } from '../../worker/client';
import type { TypedError } from '../../worker/protocol';
import { connectRemoteWorld } from '../../worker/remote-world/client';
import type { RemoteFacts, RemoteWorldApi } from '../../worker/remote-world/protocol';
import { announce } from '../state/messages';
import { visibleLine } from '../text/visible';

export type Kind = 'openenv' | DialectName;
type Visit = Remote<RemoteWorldApi> & WorkerConnection;

export interface Move {
  action: string;
  observation: string;
  reward: number;
  valid: boolean;
}

export const kind = signal<Kind>('openenv');
export const address = signal(usualAddress('openenv'));
/** OpenEnv: where the form can be read, if not at the address itself. */
export const formAddress = signal('');
/** OpenEnv: a seed; AgentGym: the task's number. */
export const number = signal(0);

export const facts = signal<RemoteFacts | null>(null);
/** What is waited for. */
export const waiting = signal<'connect' | 'begin' | 'act' | 'state' | null>(null);
export const problem = signal<TypedError | null>(null);
export const beginning = signal<string | null>(null);
export const moves = signal<readonly Move[]>([]);
/** What the server would accept now; null where it does not say. */
export const possible = signal<readonly string[] | null>(null);
export const over = signal<'done' | 'lost' | null>(null);
export const told = signal<string | null>(null);
export const total = computed(() => moves.value.reduce((sum, { reward }) => sum + reward, 0));

let visit: Visit | null = null;
let connector: () => Visit = connectRemoteWorld;

/** Tests put a worker of their own here. */
export function connectBy(connect: () => Visit): void {
  connector = connect;
  visit = null;
}

function usualAddress(of: Kind): string {
  return of === 'openenv' ? 'ws://127.0.0.1:8000' : `http://127.0.0.1:${dialects[of].usualPort}`;
}

export function chooseKind(next: Kind): void {
  // What was typed stays; what only was proposed goes with its kind.
  if (address.value === usualAddress(kind.value)) address.value = usualAddress(next);
  kind.value = next;
}

export function targetOf(): RemoteTarget {
  const url = address.value.trim();
  if (kind.value !== 'openenv') return { kind: 'agentgym', dialect: kind.value, url };
  const formUrl = formAddress.value.trim();
  return { kind: 'openenv', url, ...(formUrl === '' ? {} : { formUrl }) };
}

function worker(): Visit {
  if (visit) return visit;
  const started = connector();
  visit = started;
  void started.crashed.then((error) => {
    started.terminate();
    if (visit === started) visit = null;
    facts.value = null;
    problem.value = error;
  });
  return started;
}

/** Grows when the person leaves: what a server says after that is said to nobody. */
let visits = 0;

/** One thing at a time. Null when it failed, which `problem` tells, or when the person has left meanwhile. */
async function doing<T>(what: NonNullable<typeof waiting.value>, work: (at: Visit) => Promise<T>): Promise<T | null> {
  if (waiting.value !== null) return null;
  const number = visits;
  waiting.value = what;
  problem.value = null;
  try {
    const answer = await work(worker());
    return number === visits ? answer : null;
  } catch (error) {
    const { code, message, advice } = asDreamError(error);
    if (number === visits) problem.value = { code, message, advice };
    return null;
  } finally {
    if (number === visits) waiting.value = null;
  }
}

function forgetEpisode(): void {
  beginning.value = null;
  moves.value = [];
  possible.value = null;
  over.value = null;
  told.value = null;
}

export async function connect(): Promise<void> {
  facts.value = null;
  forgetEpisode();
  const found = await doing('connect', (at) => at.connect(targetOf()));
  if (!found) return;
  facts.value = found;
  announce(`${visibleLine(found.name, 100)} at ${found.display}: a task can begin.`);
}

export async function begin(): Promise<void> {
  const choice = facts.value?.hasState ? { seed: number.value } : { index: number.value };
  forgetEpisode();
  const seen = await doing('begin', (at) => at.begin(choice));
  if (!seen) return;
  beginning.value = seen.observation;
  possible.value = seen.actions;
}

/** `shown`: the action as the person sees it in the log. */
export async function act(action: string | JsonObject, shown: string): Promise<boolean> {
  const step = await doing('act', (at) => at.act(action));
  if (!step) return false;
  told.value = null;
  if (step.lost) {
    over.value = 'lost';
    problem.value = step.lost;
    announce('The episode was lost.');
    return true;
  }
  const { observation, reward, valid, done, actions } = step;
  moves.value = [...moves.value, { action: shown, observation, reward, valid }];
  possible.value = actions;
  if (done) over.value = 'done';
  announce(done ? 'The episode is over.' : 'The server answered.');
  return true;
}

export async function askState(): Promise<void> {
  told.value = await doing('state', (at) => at.state());
}

/** Ends what is under way, too: a server may hang. */
export async function leave(): Promise<void> {
  const at = visit;
  visits++;
  waiting.value = null;
  facts.value = null;
  problem.value = null;
  forgetEpisode();
  await at?.leave().catch(() => undefined);
}

/** The relay for this very server and this very page, ready to paste. */
export function relayCommand(server: string, page: URL): string {
  const own = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(page.hostname) ? '' : ` --origin ${page.origin}`;
  return `npm run --silent dream -- relay --target ${server}${own}`;
}
