/** @file Episodes of a built-in world by number, as AgentGym's TextCraft server keeps them; bounded, the idle ones first to go. */
import { asDreamError } from '../../data/errors';
import type { Task } from '../../envs/environment';
import type { PlayableEnvironment } from '../../envs/world';

interface Session {
  environment: PlayableEnvironment;
  /** Text of the last answer; null before the first reset. */
  seen: string | null;
  done: boolean;
}

/** What goes over the wire: AgentGym answers its own errors with 200. */
export type Answer = Readonly<Record<string, unknown>> | string;

const longestAction = 2000;

export class Sessions {
  /** In order of last use. */
  private readonly sessions = new Map<number, Session>();
  private next = 0;

  /** `abstract`: speak the compact text that models of this program see, instead of the world's sentences. */
  constructor(
    private readonly create: () => PlayableEnvironment,
    private readonly tasks: readonly Task[],
    private readonly most: number,
    private readonly abstract: boolean,
  ) {}

  get count(): number {
    return this.sessions.size;
  }

  open(): Answer {
    // Trainers that die close nothing: whoever was silent longest makes room.
    if (this.sessions.size >= this.most) this.sessions.delete(this.sessions.keys().next().value as number);
    const id = this.next++;
    this.sessions.set(id, { environment: this.create(), seen: null, done: true });
    return { id, observation: '', done: false, reward: 0 };
  }

  reset(id: unknown, index: unknown): Answer {
    const session = this.find(id);
    if (!session) return invalid(id);
    const task = typeof index === 'number' && Number.isInteger(index) ? this.tasks[index] : undefined;
    if (!task)
      return { error: `There is no task ${String(index).slice(0, 40)}: they are 0 to ${this.tasks.length - 1}.` };
    try {
      const observation = session.environment.reset(task);
      session.seen = this.abstract ? observation : session.environment.rawFirstObservation();
      session.done = false;
      return { id, observation: session.seen, done: false, reward: 0 };
    } catch (error) {
      session.done = true;
      return { error: `Task ${index} cannot be entered: ${asDreamError(error).message}` };
    }
  }

  step(id: unknown, action: unknown): Answer {
    const session = this.find(id);
    if (!session) return invalid(id);
    if (typeof action !== 'string' || action.length > longestAction) return { error: 'The action is no short text.' };
    if (session.done) return { error: 'There is no episode under way: reset first.' };
    const { observation, raw, reward, done } = session.environment.step(action);
    session.seen = this.abstract ? observation : (raw ?? observation);
    session.done = done;
    return { observation: session.seen, reward, done };
  }

  observation(id: unknown): Answer {
    const session = this.find(id);
    return session ? (session.seen ?? '') : invalid(id);
  }

  close(id: unknown): Answer {
    return typeof id === 'number' && this.sessions.delete(id) ? { closed: true } : invalid(id);
  }

  private find(id: unknown): Session | undefined {
    if (typeof id !== 'number') return undefined;
    const session = this.sessions.get(id);
    if (session) {
      this.sessions.delete(id);
      this.sessions.set(id, session);
    }
    return session;
  }
}

const invalid = (id: unknown): Answer => ({ error: `The id ${String(id).slice(0, 40)} is not valid.` });
