/**
 * @file Remote sessions side by side behind the batch interface, so that the loop can play in them as in any other world.
 *
 * Sessions are kept from one reset to the next: opening them is slow, and some servers never forget one.
 */
import { asDreamError, DreamError } from '../../data/errors';
import type { Environment, EnvironmentBatch } from '../environment';
import { lostStep } from './lost';

export interface RemoteEnvironment extends Environment {
  close(): Promise<unknown>;
}

export interface RemoteBatch extends EnvironmentBatch {
  /** Most episodes at once: give it to the loop as `parallel`. */
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
  let failures: (DreamError | null)[] = [];
  return {
    imagined: false,
    capacity: count,
    async reset(tasks) {
      if (tasks.length > count)
        throw new DreamError(
          'remote-capacity',
          `${tasks.length} episodes were asked for at once, but the environment server has ${count} sessions.`,
          'Play at most that many in parallel, or allow more sessions on the server.',
        );
      while (sessions.length < tasks.length) sessions.push(make());
      const answers = await Promise.allSettled(tasks.map(async (task, i) => sessions[i].reset(task)));
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
          if (action === null) return null;
          const failure = failures[i];
          return failure ? lostStep(failure) : sessions[i].step(action);
        }),
      );
    },
    async close() {
      await Promise.allSettled(sessions.splice(0).map((session) => session.close()));
    },
  };
}
