/**
 * @file MiniWoB++ behind the one interface: the reward is in the page, the page is the user's, and no server is needed.
 *
 * Observations and actions are those of the web world (envs/web), so that an agent can be carried over.
 */
import { DreamError } from '../../data/errors';
import type { Environment, StepResult, Task } from '../../envs/environment';
import { NOTHING_HAPPENS, parseAction } from '../../envs/web';
import { bundlePage, pageName, type TextFiles } from './bundle';
import { type FrameOptions, type FrameRequest, MiniWobFrame, type Seen } from './frame';

/** MiniWoB has no step limit, only a clock, which we stop; other harnesses use ten. */
export const MAX_STEPS = 10;
const MAX_LINES = 60;

export interface MiniWobData {
  /** Path of the task page below the chosen folder. */
  readonly page: string;
  readonly seed: number;
}

function dataOf(task: Task): MiniWobData {
  const data = task.data as Partial<MiniWobData> | null;
  if (typeof data?.page !== 'string' || typeof data.seed !== 'number')
    throw new DreamError('task-unreadable', 'The task is not a MiniWoB task.', 'Choose a task of your MiniWoB folder.');
  return { page: data.page, seed: data.seed };
}

/** One line per element, numbered as the frame numbers them. */
export function observationOf(page: string, seen: Seen): string {
  const lines = seen.elements.slice(0, MAX_LINES).map(({ role, words }, index) => `[${index + 1}] ${role}: ${words}`);
  return [`page: MiniWoB at miniwob/${pageName(page)}`, ...lines].join('\n');
}

/** What the frame is asked for an action; null for what has no meaning here. */
export function requestFor(action: string): FrameRequest | null {
  const parsed = parseAction(action);
  const request = (kind: 'click' | 'hover' | 'type' | 'press' | 'scroll', element: number, text = '', enter = false) =>
    ({ kind, element, text, enter }) as const;
  switch (parsed.kind) {
    case 'click':
    case 'hover':
      return request(parsed.kind, parsed.id);
    case 'type':
      return request('type', parsed.id, parsed.text, parsed.enter);
    case 'select':
      return request('type', parsed.id, parsed.option);
    case 'press':
      return request('press', 0, parsed.keys);
    case 'scroll':
      return request('scroll', 0, parsed.direction);
    default:
      return null;
  }
}

export class MiniWobEnvironment implements Environment {
  private frame: MiniWobFrame | null = null;
  private page = '';
  private steps = 0;
  private done = true;

  constructor(
    private readonly files: TextFiles,
    private readonly options: FrameOptions,
  ) {}

  /** A task with the sentence and the first page that its seed gives: the page itself must be asked. */
  async prepare(page: string, seed: number): Promise<Task> {
    const bare: Task = {
      id: `miniwob/${pageName(page)}/${seed}`,
      instruction: '',
      room: `miniwob/${pageName(page)}`,
      family: pageName(page),
      firstObservation: '',
      data: { page, seed } satisfies MiniWobData,
    };
    const seen = await this.start(bare);
    return { ...bare, instruction: seen.utterance.replace(/\.$/, ''), firstObservation: observationOf(page, seen) };
  }

  /** @throws DreamError `task-unreadable`, `miniwob-file-missing`, `miniwob-no-answer`, `miniwob-page-failed`. */
  async reset(task: Task): Promise<string> {
    return observationOf(this.page, await this.start(task));
  }

  private async start(task: Task): Promise<Seen> {
    const { page, seed } = dataOf(task);
    // A new frame for each episode: nothing of the last one is left, not even its timers.
    this.close();
    this.page = page;
    this.steps = 0;
    this.frame = await MiniWobFrame.open(bundlePage(page, this.files), this.options);
    const seen = await this.frame.ask({ kind: 'start', seed });
    this.done = false;
    return seen;
  }

  async step(action: string): Promise<StepResult> {
    if (this.frame === null)
      throw new DreamError('world-not-reset', 'The world was used before it was given a task.', 'Call reset first.');
    const nothing: StepResult = {
      observation: NOTHING_HAPPENS,
      reward: 0,
      done: this.done,
      valid: false,
      imagined: false,
    };
    if (this.done) return nothing;
    this.steps++;
    const last = this.steps >= MAX_STEPS;
    const request = requestFor(action);
    if (request === null) {
      // `stop` gives up: MiniWoB rewards what was done, not what is said.
      this.done = last || parseAction(action).kind === 'stop';
      return { ...nothing, done: this.done };
    }
    let seen: Seen;
    try {
      seen = await this.frame.ask(request);
    } catch (error) {
      if (!(error instanceof DreamError)) throw error;
      this.done = true;
      return { ...nothing, done: true, lost: true, raw: error.message };
    }
    this.done = seen.done || last;
    return {
      observation: seen.ok ? observationOf(this.page, seen) : NOTHING_HAPPENS,
      reward: seen.done && seen.reward > 0 ? 1 : 0,
      done: this.done,
      valid: seen.ok,
      raw: `raw reward ${seen.reward}`,
      imagined: false,
    };
  }

  close(): void {
    this.frame?.close();
    this.frame = null;
    this.done = true;
  }
}
