/**
 * @file An experience model that is spoken to in text, as an environment (DreamGym, Eq. 4).
 *
 * The counterpart of `DreamedEnvironment` (../experience-model.ts) for models that are no `LanguageModel`: the same seam,
 * the same counts, the same rules. Malformed answers are asked for once more, then the episode is lost; an invalid action
 * leads to the failure state and never to a reward; success is what the transcript shows, where the world can tell.
 * These models keep no stream: every question carries its history.
 */
import type { Turn } from '../../data/trajectory';
import type { EnvironmentBatch, StepResult, Task } from '../../envs/environment';
import type { DreamCounts } from '../dream-options';
import { deriveSeed } from '../random';
import type { Memory } from '../retrieval';
import { type MalformedAnswer, type ParsedAnswer, parseTextAnswer, type TextAnswer } from './answer';
import { experienceMessages, type PromptLimits } from './prompt';
import type { Recall } from './recall';
import type { TextModel, TextRequest } from './text-model';
import type { TextWorld } from './world';

/** What the loop needs of any dream; `DreamedEnvironment` is one too. */
export interface ExperienceEnvironment extends EnvironmentBatch {
  readonly counts: DreamCounts;
  dispose(): void;
}

export interface TextDreamOptions {
  model: TextModel;
  world: TextWorld;
  /** null dreams without memories. */
  recall: Recall | null;
  /** Memories per question; 0 switches retrieval off. */
  retrievalTopK: number;
  temperature: number;
  /** Let the transcript decide success, both ways, where the world can tell. */
  goalCheck: boolean;
  /** Ask once more after a contradiction; put the failure state in place of an action that the text rules out. */
  stepCheck: boolean;
  /** Answer length. Default 256 tokens: reasoning of a few sentences, and a state. */
  maxTokens?: number;
  /** Default: 12 turns, 12,000 characters (about 3,000 tokens). */
  prompt?: Partial<PromptLimits>;
  /** Ends a step that is under way, with this signal's reason. `dispose` does so too. */
  signal?: AbortSignal;
}

interface Slot {
  task: Task;
  firstObservation: string;
  turns: Pick<Turn, 'action' | 'observation' | 'valid'>[];
  over: boolean;
}

interface Asked {
  slot: number;
  action: string;
  memories: readonly Memory[];
  complaint?: string;
}

const complaints: Partial<Record<MalformedAnswer | 'foreign', string>> = {
  'no-observation': 'it had no observation',
  'no-reward': 'it had no reward',
  'bad-flag': 'valid and done must be true or false, reward 0 or 1',
  inconsistent: 'a reward needs a valid action and done true',
  foreign: 'its observation has none of the forms of this world',
};

export class TextExperienceModel implements ExperienceEnvironment {
  readonly imagined = true;
  readonly counts: DreamCounts = {
    malformed: 0,
    lost: 0,
    rejectedSuccesses: 0,
    contradictions: 0,
    grantedSuccesses: 0,
    refusals: 0,
    recalled: 0,
    questions: 0,
    generatedTokens: 0,
  };
  private slots: Slot[] = [];
  private seed = 0;
  private closing = new AbortController();

  constructor(private readonly options: TextDreamOptions) {}

  /** Starts from each task's stored first observation: the real world is not entered. */
  async reset(tasks: readonly Task[], seed: number): Promise<string[]> {
    this.dispose();
    this.closing = new AbortController();
    this.seed = seed;
    this.slots = tasks.map((task) => ({ task, firstObservation: task.firstObservation, turns: [], over: false }));
    return this.slots.map(({ firstObservation }) => firstObservation);
  }

  async step(actions: readonly (string | null)[]): Promise<(StepResult | null)[]> {
    const results: (StepResult | null)[] = actions.map(() => null);
    const playing = actions.flatMap((action, slot) =>
      action === null || this.slots[slot].over ? [] : [{ slot, action }],
    );
    const memories = await this.remember(playing);
    this.counts.questions += playing.length;
    this.counts.recalled += memories.filter((found) => found.length > 0).length;

    const asked = playing.map(({ slot, action }, j) => ({ slot, action, memories: memories[j] }));
    const refused = await this.ask(asked, 'answer', results);
    const stillRefused = await this.ask(refused, 'retry', results);
    for (const { slot } of stillRefused) results[slot] = this.lose(slot);
    return results;
  }

  /** Aborts a step under way; its promise rejects. */
  dispose(): void {
    this.closing.abort(new DOMException('The dream was ended.', 'AbortError'));
  }

  private get signal(): AbortSignal {
    const { signal } = this.options;
    return signal ? AbortSignal.any([signal, this.closing.signal]) : this.closing.signal;
  }

  private remember(playing: readonly { slot: number; action: string }[]): Promise<Memory[][]> {
    const { recall, retrievalTopK } = this.options;
    if (!recall || retrievalTopK === 0 || playing.length === 0) return Promise.resolve(playing.map(() => []));
    const queries = playing.map(({ slot, action }) => ({
      room: this.slots[slot].task.room,
      state: this.stateOf(slot),
      action,
      episode: `dream ${this.seed} ${slot}`,
    }));
    return recall(queries, retrievalTopK, this.signal);
  }

  private stateOf(slot: number): string {
    const { turns, firstObservation } = this.slots[slot];
    return turns.at(-1)?.observation ?? firstObservation;
  }

  /** Asks, fills `results`, and returns what has to be asked once more, with the reason. */
  private async ask(
    asked: readonly Asked[],
    attempt: 'answer' | 'retry',
    results: (StepResult | null)[],
  ): Promise<Asked[]> {
    if (asked.length === 0) return [];
    this.signal.throwIfAborted();
    const completions = await this.options.model.complete(
      asked.map((question) => this.request(question, attempt)),
      this.signal,
    );
    const again: Asked[] = [];
    asked.forEach((question, j) => {
      const { text, finishReason, generatedTokens } = completions[j];
      this.counts.generatedTokens += generatedTokens ?? 0;
      const parsed = finishReason === 'filtered' ? null : parseTextAnswer(text, finishReason === 'stop');
      const complaint = this.judge(question, parsed && this.ofThisWorld(parsed), attempt, results);
      if (complaint !== null) again.push({ ...question, complaint });
    });
    return again;
  }

  /** The answer as this world would put it, or why it cannot be one of its answers. */
  private ofThisWorld(parsed: ParsedAnswer): ParsedAnswer | { ok: false; why: 'foreign' } {
    if (!parsed.ok) return parsed;
    const { world } = this.options;
    const { answer } = parsed;
    // An invalid action leads to the failure state, whatever else was written.
    if (answer.valid === false) return { ok: true, answer: { ...answer, observation: world.failureObservation } };
    if (!world.isObservation(answer.observation)) return { ok: false, why: 'foreign' };
    const valid = answer.observation !== world.failureObservation;
    return !valid && answer.reward > 0
      ? { ok: false, why: 'inconsistent' }
      : { ok: true, answer: { ...answer, valid } };
  }

  /** Accepts the answer (null), or says why it is refused. */
  private judge(
    { slot, action }: Asked,
    read: ReturnType<TextExperienceModel['ofThisWorld']> | null,
    attempt: 'answer' | 'retry',
    results: (StepResult | null)[],
  ): string | null {
    const { world, stepCheck } = this.options;
    if (!read?.ok) {
      this.counts.malformed++;
      return read ? (complaints[read.why] ?? 'it could not be read') : 'it was withheld';
    }
    const { answer } = read;
    const { firstObservation, turns, task } = this.slots[slot];
    const contradicts = world.contradicts(firstObservation, [...turns, { action, observation: answer.observation }]);
    if (contradicts && stepCheck) {
      const refusal = world.refusal(task, firstObservation, turns, action);
      if (refusal) {
        this.counts.refusals++;
        results[slot] = this.accept(slot, action, { ...refusal, valid: false, reward: 0, done: false });
        return null;
      }
      if (attempt === 'answer') return 'it contradicts what was observed before';
    }
    if (contradicts) this.counts.contradictions++;
    results[slot] = this.accept(slot, action, answer);
    return null;
  }

  private request({ slot, action, memories, complaint }: Asked, attempt: 'answer' | 'retry'): TextRequest {
    const { world, temperature, maxTokens, prompt } = this.options;
    const { task, firstObservation, turns } = this.slots[slot];
    const transitions = memories.map((memory) => memory.transition);
    return {
      messages: experienceMessages(
        { world, task, firstObservation, turns, action, memories: transitions, complaint },
        { historyTurns: prompt?.historyTurns ?? 12, maxCharacters: prompt?.maxCharacters ?? 12_000 },
      ),
      maxTokens: maxTokens ?? 256,
      temperature,
      seed: deriveSeed(this.seed, attempt, slot, turns.length),
    };
  }

  private accept(slot: number, action: string, answer: TextAnswer): StepResult {
    const { world, goalCheck } = this.options;
    const { task, firstObservation, turns } = this.slots[slot];
    const { observation, valid = true } = answer;
    const claimed = valid && answer.reward > 0;
    const turn = { action, observation, valid };
    const shown = goalCheck ? world.supportsSuccess(task, firstObservation, [...turns, turn]) : null;
    const success = shown === null ? claimed : valid && shown;
    if (claimed && !success) this.counts.rejectedSuccesses++;
    if (success && !claimed) this.counts.grantedSuccesses++;
    // A success that was taken back does not end the episode; neither does a failure in a world that knows none.
    const done = success || (world.endsInFailure && answer.done && !claimed);
    this.slots[slot].turns.push(turn);
    this.slots[slot].over = done;
    return {
      observation,
      reward: success ? 1 : 0,
      done,
      valid,
      reasoning: answer.reasoning,
      imagined: true,
    };
  }

  private lose(slot: number): StepResult {
    this.slots[slot].over = true;
    this.counts.lost++;
    return {
      observation: this.options.world.failureObservation,
      reward: 0,
      done: true,
      valid: false,
      imagined: true,
      lost: true,
    };
  }
}
