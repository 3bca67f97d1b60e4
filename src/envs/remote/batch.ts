/**
 * @file Remote sessions side by side behind the batch interface, so that the loop can play in them as in any other world.
 *
 * Sessions are kept from one reset to the next: opening them is slow, and some servers never forget one. Whoever has more
 * episodes than `capacity` plays them in waves; parking episodes here would mean replaying them, and no server promises
 * that the same actions lead to the same state again.
 */
import { asDreamError, DreamError } from '../../data/errors';
import type { JsonObject } from '../../data/json-object';
import type { Environment, EnvironmentBatch } from '../environment';
import { lostStep } from './lost';

export interface RemoteEnvironment extends Environment {
  /** Why the last episode was lost. */
  readonly lostBecause: DreamError | null;
  /** What the server would take now, where it says so. */
  readonly actions?: readonly string[] | null;
  /** The server's own account of the episode, where it has one. */
  state?(): Promise<JsonObject>;
  close(): Promise<unknown>;
}

export interface RemoteBatch extends EnvironmentBatch {
  readonly capacity: number;
  close(): Promise<void>;
}

/** Failures that every session would meet: the run must hear of them instead of losing all its episodes. */
const forAll: ReadonlySet<string> = new Set([
  'remote-capacity',
  'remote-no-cors',
  'remote-redirected',
  'remote-bad-task',
  'remote-validation',
]);

/**
 * At most `count` sessions, opened when first needed. A session that cannot be reset loses its episode, unless none can or the
 * failure concerns all of them: then `reset` throws it. More tasks than sessions: `remote-capacity`.
 */
export function remoteBatch(make: () => RemoteEnvironment, count: number): RemoteBatch {
  const sessions: RemoteEnvironment[] = [];
  /** Why episodes never began. */
  let failures: (DreamError | null)[] = [];
  /** Which of those were told so. */
  let over: boolean[] = [];
  return {
    imagined: false,
    capacity: count,
    async reset(tasks) {
      if (tasks.length > count) throw tooMany(tasks.length, count);
      while (sessions.length < tasks.length) sessions.push(make());
      const answers = await Promise.allSettled(tasks.map(async (task, i) => sessions[i].reset(task)));
      over = tasks.map(() => false);
      failures = answers.map((answer) => (answer.status === 'rejected' ? asDreamError(answer.reason) : null));
      const failed = failures.filter((failure) => failure !== null);
      const fatal = failed.find(({ code }) => forAll.has(code) || code === 'unexpected');
      if (fatal) throw fatal;
      if (failed.length > 0 && failed.length === tasks.length) throw failed[0];
      return answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : ''));
    },
    async step(actions) {
      return Promise.all(
        actions.map((action, i) => {
          const failure = failures[i];
          if (failure) {
            // Even where nothing was said: an episode that never began must not pass for one of bad answers.
            if (over[i]) return null;
            over[i] = true;
            return lostStep(failure);
          }
          return action === null ? null : sessions[i].step(action);
        }),
      );
    },
    admissible: (slot) => sessions[slot]?.actions ?? [],
    async close() {
      await Promise.allSettled(sessions.splice(0).map((session) => session.close()));
    },
  };
}

function tooMany(tasks: number, sessions: number): DreamError {
  const has = `${sessions} ${sessions === 1 ? 'session' : 'sessions'}`;
  return new DreamError(
    'remote-capacity',
    `${tasks} episodes were asked for at once, but the environment server has ${has}.`,
    'Play at most that many in parallel, or allow more sessions on the server.',
  );
}
