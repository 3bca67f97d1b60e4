/**
 * @file One way to every kind of environment server: what a person names (an address, a kind), and what everything else needs
 * of it: sessions, tasks, and how its actions are written.
 */
import { asDreamError, DreamError } from '../../data/errors';
import type { JsonObject } from '../../data/json-object';
import type { Task } from '../environment';
import { remoteAddress } from './address';
import type { DialectName } from './agentgym/dialects';
import { AgentGymEnvironment, agentGymTask } from './agentgym/environment';
import { AgentGymServer } from './agentgym/server';
import { dialectWords } from './agentgym/words';
import type { RemoteEnvironment } from './batch';
import { noSocket } from './errors';
import type { ActionForm } from './openenv/action-form';
import type { OpenSocket } from './openenv/channel';
import { describeOpenEnv, type OpenEnvDescription } from './openenv/describe';
import { OpenEnvEnvironment, openEnvTask } from './openenv/environment';

/** Plain data: it passes a worker's border and fits a command line. */
export type RemoteTarget =
  /** `formUrl`: where /schema may be read, if not at the address itself (a relay, for a page). */
  { kind: 'openenv'; url: string; formUrl?: string } | { kind: 'agentgym'; dialect: DialectName; url: string };

export interface RemoteOptions {
  /** Node 20 has no WebSocket: the terminal passes `ws`. */
  openSocket?: OpenSocket;
  fetch?: typeof globalThis.fetch;
  /** For one answer. Default: 30 s over a socket, 60 s over HTTP. */
  timeoutMs?: number;
  /** Further attempts at a reset. Default 3. */
  retries?: number;
  /** Requests under way at once at an AgentGym server. Default 8. */
  concurrency?: number;
}

/** Which of the server's tasks. */
export interface TaskChoice {
  /** AgentGym: its number in the server's list. */
  index?: number;
  seed?: number;
  instruction?: string;
  /** OpenEnv: further arguments of reset. */
  options?: JsonObject;
}

export interface RemoteServer {
  readonly target: RemoteTarget;
  /** The server's own name, or that of its dialect. */
  readonly name: string;
  /** The server's own words; may be empty. */
  readonly description: string;
  /** Scheme, host and port. */
  readonly display: string;
  /** How an action is written; null where it is one line of text. */
  readonly form: ActionForm | null;
  /** Why an OpenEnv server's form could not be read; its actions go as `{"message": text}` then. */
  readonly formProblem: DreamError | null;
  /** A session of its own; nothing is asked before its first reset. */
  open(): RemoteEnvironment;
  task(choice: TaskChoice): Task;
}

/** Asks an OpenEnv server for its form, an AgentGym server for nothing yet. Throws `remote-address-invalid`. */
export async function connectRemote(target: RemoteTarget, options: RemoteOptions = {}): Promise<RemoteServer> {
  return target.kind === 'openenv' ? openEnvServer(target, options) : agentGymServer(target, options);
}

async function openEnvServer(
  target: Extract<RemoteTarget, { kind: 'openenv' }>,
  { fetch, timeoutMs, openSocket, retries }: RemoteOptions,
): Promise<RemoteServer> {
  const { display } = remoteAddress(target.url);
  const http = { ...(fetch ? { fetch } : {}), timeoutMs: Math.min(timeoutMs ?? 10_000, 10_000) };
  let found: OpenEnvDescription | null = null;
  let formProblem: DreamError | null = null;
  try {
    found = await describeOpenEnv(target.formUrl ?? target.url, http);
  } catch (error) {
    // Whether one can play is for the socket to say: from a page it often opens where HTTP stays closed.
    formProblem = asDreamError(error);
    if (target.formUrl && formProblem.code === 'remote-address-invalid') throw formProblem;
  }
  const form = found?.form ?? null;
  const name = found?.name || 'openenv';
  return {
    target,
    name,
    description: found?.description ?? '',
    display,
    form,
    formProblem,
    open() {
      const session = new OpenEnvEnvironment({
        url: target.url,
        ...(openSocket ? { openSocket } : {}),
        ...(form ? { form } : {}),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        ...(retries === undefined ? {} : { retries }),
      });
      return formProblem === null || silent.has(formProblem.code) ? session : explaining(session, display);
    },
    task({ seed, options, instruction = '' }) {
      return openEnvTask(name, instruction, {
        ...(seed === undefined ? {} : { seed }),
        ...(options ? { options } : {}),
      });
    },
  };
}

/** Nobody spoke over HTTP. */
const silent: ReadonlySet<string> = new Set(['remote-unreachable', 'remote-timeout', 'remote-disconnected']);

/** A server that speaks HTTP but opens no socket is there; it only is of another kind. */
function explaining(session: OpenEnvEnvironment, display: string): RemoteEnvironment {
  const reset = session.reset.bind(session);
  session.reset = (task) =>
    reset(task).catch((error: unknown) => {
      throw asDreamError(error).code === 'remote-unreachable' ? noSocket(display) : error;
    });
  return session;
}

function agentGymServer(
  target: Extract<RemoteTarget, { kind: 'agentgym' }>,
  { fetch, timeoutMs, retries, concurrency }: RemoteOptions,
): RemoteServer {
  const { dialect, url } = target;
  // Sessions share the server, and with it its limit of requests.
  const server = new AgentGymServer({
    dialect,
    url,
    ...(fetch ? { fetch } : {}),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(retries === undefined ? {} : { retries }),
    ...(concurrency === undefined ? {} : { concurrency }),
  });
  return {
    target,
    name: dialect,
    description: dialectWords[dialect].rules,
    display: server.display,
    form: null,
    formProblem: null,
    open: () => new AgentGymEnvironment(server),
    task: ({ index = 0, seed, instruction }) => agentGymTask(dialect, index, instruction, seed),
  };
}

/**
 * What a person typed: an address, and a dialect where it is an AgentGym server. Throws DreamError `remote-kind` for a
 * WebSocket address with a dialect.
 */
export function remoteTarget(url: string, dialect?: DialectName): RemoteTarget {
  if (dialect === undefined) return { kind: 'openenv', url };
  if (/^wss?:/i.test(url.trim()))
    throw new DreamError(
      'remote-kind',
      'AgentGym servers speak HTTP, not WebSocket.',
      'Give their http:// address, or leave the dialect out for an OpenEnv server.',
    );
  return { kind: 'agentgym', dialect, url };
}
