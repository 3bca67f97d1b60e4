/**
 * @file One session in which several episodes take turns, for callers that step more episodes in lock-step than a server has
 * sessions (the audit of a dream, planning). Coming back means beginning again and repeating what was done: T steps cost
 * T²/2, and what the server then tells must be what it told before, or the episode is lost. Whoever can, plays in waves.
 */
import { DreamError } from '../../data/errors';
import type { StepResult, Task } from '../environment';
import type { RemoteEnvironment } from './batch';
import { lostStep } from './lost';

/** An episode, whether it holds its session now or not. */
export interface Episode {
  readonly task: Task;
  first: string;
  readonly done: { action: string; observation: string }[];
}

export class TurnTaking {
  private holder: Episode | null = null;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(private readonly session: RemoteEnvironment) {}

  /** Whoever holds the session knows what it would accept. */
  actionsOf(episode: Episode): readonly string[] {
    return this.holder === episode ? (this.session.actions ?? []) : [];
  }

  /** Throws what the session's reset throws. */
  begin(task: Task): Promise<Episode> {
    return this.inTurn(async () => {
      this.holder = null;
      const episode: Episode = { task, first: await this.session.reset(task), done: [] };
      this.holder = episode;
      return episode;
    });
  }

  step(episode: Episode, action: string): Promise<StepResult> {
    return this.inTurn(async () => {
      if (this.holder !== episode) {
        const failure = await this.comeBack(episode);
        if (failure) return lostStep(failure);
      }
      const result = await this.session.step(action);
      episode.done.push({ action, observation: result.observation });
      if (result.lost) this.holder = null;
      return result;
    });
  }

  close(): Promise<unknown> {
    return this.session.close();
  }

  private async comeBack(episode: Episode): Promise<DreamError | null> {
    this.holder = null;
    if ((await this.session.reset(episode.task)) !== episode.first) return diverged();
    for (const { action, observation } of episode.done) {
      const again = await this.session.step(action);
      if (again.lost) return this.session.lostBecause ?? diverged();
      if (again.observation !== observation) return diverged();
    }
    this.holder = episode;
    return null;
  }

  /** One after another: a session has one request under way. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.queue.then(work);
    this.queue = turn.catch(() => undefined);
    return turn;
  }
}

const diverged = () =>
  new DreamError(
    'remote-diverged',
    'The environment server did not answer the same actions as it did before.',
    'Such a server cannot be shared by more episodes than it has sessions: allow more sessions, or play fewer at once.',
  );
