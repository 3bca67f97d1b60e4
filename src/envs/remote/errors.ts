/** @file What can go wrong with an environment on another machine, as typed errors. Servers are quoted, shortly, as plain text. */
import { DreamError } from '../../data/errors';

const quoteLimit = 300;

/** A server's own words in one short line without control characters. */
export function quoteServer(text: string, limit = quoteLimit): string {
  const plain = text
    .slice(0, 4 * limit)
    .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return plain.length > limit ? `${plain.slice(0, limit)}…` : plain;
}

/** A server has no room. The numbers are its own, null where it does not tell. */
export class CapacityError extends DreamError {
  constructor(
    server: string,
    readonly activeSessions: number | null,
    readonly maxSessions: number | null,
  ) {
    const numbers = maxSessions === null ? '' : ` (${activeSessions ?? '?'} of ${maxSessions} sessions in use)`;
    super(
      'remote-capacity',
      `${server} takes no more episodes at once${numbers}.`,
      'End other sessions, play fewer episodes in parallel, or start the server with a larger max_concurrent_envs.',
    );
  }
}

/** The server says what is wrong with an action or a reset; the episode goes on. `details` are its own, as JSON. */
export class ValidationError extends DreamError {
  constructor(
    server: string,
    message: string,
    readonly details: unknown,
  ) {
    super(
      'remote-validation',
      `${server} does not accept that: ${quoteServer(message)}${firstDetail(details)}.`,
      'Compare the action with the form the server describes (/schema).',
    );
  }
}

/** pydantic names the field and what is wrong with it. */
function firstDetail(details: unknown): string {
  const [first] = Array.isArray(details) ? details : [];
  if (typeof first !== 'object' || first === null) return '';
  const { loc, msg } = first as { loc?: unknown; msg?: unknown };
  const where = Array.isArray(loc) ? loc.filter((part) => typeof part !== 'object').join('.') : '';
  return typeof msg === 'string' ? ` (${quoteServer(where === '' ? msg : `${where}: ${msg}`, 120)})` : '';
}

export const invalidAddress = (why: string) =>
  new DreamError(
    'remote-address-invalid',
    `This is not the address of an environment server: ${why}.`,
    'Give its base address, for example http://127.0.0.1:36001 (AgentGym) or ws://127.0.0.1:8000 (OpenEnv).',
  );

export const unreachable = (server: string, cause?: unknown) =>
  new DreamError(
    'remote-unreachable',
    `Nothing answered at ${server}.`,
    'Check that the environment server runs and that the address is right. From a page loaded over https, a browser reaches plain http and ws only on this very machine, and may ask for permission first.',
    { cause },
  );

export const noSocket = (server: string) =>
  new DreamError(
    'remote-no-socket',
    `${server} answers, but opens no WebSocket at /ws, as an OpenEnv server would.`,
    'If it is an AgentGym server, say which (--dialect, or the kind of server on the page); else check the address.',
  );

export const noCors = (server: string) =>
  new DreamError(
    'remote-no-cors',
    `${server} runs, but does not let a web page read its answers (it sends no CORS headers).`,
    `Start the relay beside it and use the address it prints: npm run --silent dream -- relay --target ${server}. AgentGym's textcraft, babyai, sciworld, searchqa and webarena servers also allow pages when started with VISUAL=true.`,
  );

export const timedOut = (server: string, timeoutMs: number) =>
  new DreamError(
    'remote-timeout',
    `${server} gave no answer within ${timeoutMs >= 1000 ? `${Math.round(timeoutMs / 1000)} s` : `${timeoutMs} ms`}.`,
    'The server hangs or is overloaded: look at its log, play fewer episodes at once, or allow more time.',
  );

export const tooLarge = (server: string, limitBytes: number) =>
  new DreamError(
    'remote-too-large',
    `${server} sent more than ${Math.round(limitBytes / 1024)} KiB in one answer.`,
    'An observation is text of some kilobytes. Check the address, or raise the limit if the server is meant to do this.',
  );

export const garbage = (server: string, why: string, cause?: unknown) =>
  new DreamError(
    'remote-garbage',
    `${server} answered, but not in the language of an environment server: ${quoteServer(why)}.`,
    'Check the address, and that the chosen kind of server (OpenEnv, or the AgentGym dialect) is the right one.',
    { cause },
  );

export const unasked = (server: string) =>
  new DreamError(
    'remote-flood',
    `${server} sends messages that nobody asked for.`,
    'This protocol answers one request with one message; the connection was closed. Check what runs at that address.',
  );

export const disconnected = (server: string, reason = '') =>
  new DreamError(
    'remote-disconnected',
    `${server} closed the connection${reason === '' ? '' : ` (${quoteServer(reason, 120)})`}.`,
    'The episode is lost and does not count. The next one connects anew; look at the server’s log if it happens again.',
  );

export const serverFailed = (server: string, code: string, message: string) =>
  new DreamError(
    'remote-server-error',
    `${server} reports an error of its own (${quoteServer(code, 60)})${message === '' ? '' : `: ${quoteServer(message)}`}.`,
    'The fault is on the server. Look at its log, or start it again.',
  );

export const redirected = (server: string) =>
  new DreamError(
    'remote-redirected',
    `${server} sends its callers elsewhere, which is not followed.`,
    'Give the address of the environment server itself.',
  );

export const noEpisode = () =>
  new DreamError(
    'remote-no-episode',
    'There is no episode under way.',
    'Call reset first; after a lost or finished episode, again.',
  );

export const badTask = (why: string) =>
  new DreamError(
    'remote-bad-task',
    `This task does not fit the environment server: ${why}.`,
    'Make tasks for it with agentGymTask or openEnvTask.',
  );

export const closed = () =>
  new DreamError('remote-closed', 'This environment was closed.', 'Make a new one to play on.');

/** A remote action form could not be understood or filled. */
export const badForm = (why: string) =>
  new DreamError(
    'remote-action-form',
    `The action does not fit the server's form: ${why}.`,
    'Fill in the named field as the form describes it.',
  );
