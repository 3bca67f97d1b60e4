/**
 * @file Remote sessions side by side behind the batch interface, so that the loop can play in them as in any other world.
 *
 * Sessions are kept from one reset to the next: opening them is slow, and some servers never forget one. Whoever has more
 * episodes than `capacity` plays them in waves; where that cannot be, they take turns (turn-taking.ts).
 */
import { asDreamError, DreamError } from '../../data/errors';
import type { JsonObject } from '../../data/json-object';
import type { Environment, EnvironmentBatch } from '../environment';
import { noEpisode } from './errors';
import { lostStep } from './lost';
import { type Episode, TurnTaking } from './turn-taking';

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
 * failure concerns all of them: then `reset` throws it. More tasks than sessions take turns; where actions change more than
 * their own session (`sharedWorld`), so that none may be repeated, that is `remote-capacity`.
 */
export function remoteBatch(
  make: () => RemoteEnvironment,
  count: number,
  { sharedWorld = false }: { sharedWorld?: boolean } = {},
): RemoteBatch {
  const sessions: TurnTaking[] = [];
  const sessionOf = (slot: number) => sessions[slot % count];
  let episodes: (Episode | null)[] = [];
  /** Why episodes never began. */
  let failures: (DreamError | null)[] = [];
  /** Which of those were told so. */
  let told: boolean[] = [];
  return {
    imagined: false,
    capacity: count,
    async reset(tasks) {
      if (tasks.length > count && sharedWorld) throw tooMany(tasks.length, count);
      while (sessions.length < Math.min(count, tasks.length)) sessions.push(new TurnTaking(make()));
      const begun = await Promise.allSettled(tasks.map((task, i) => sessionOf(i).begin(task)));
      told = tasks.map(() => false);
      episodes = begun.map((one) => (one.status === 'fulfilled' ? one.value : null));
      failures = begun.map((one) => (one.status === 'rejected' ? asDreamError(one.reason) : null));
      const failed = failures.filter((failure) => failure !== null);
      const fatal = failed.find(({ code }) => forAll.has(code) || code === 'unexpected');
      if (fatal) throw fatal;
      if (failed.length > 0 && failed.length === tasks.length) throw failed[0];
      return episodes.map((episode) => episode?.first ?? '');
    },
    async step(actions) {
      return Promise.all(
        actions.map((action, i) => {
          const episode = episodes[i];
          if (episode) return action === null ? null : sessionOf(i).step(episode, action);
          // Even where nothing was said: an episode that never began must not pass for one of bad answers.
          if (told[i]) return null;
          told[i] = true;
          return lostStep(failures[i] ?? noEpisode());
        }),
      );
    },
    admissible(slot) {
      const episode = episodes[slot];
      return episode ? sessionOf(slot).actionsOf(episode) : [];
    },
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
