/**
 * @file The experience model as an environment (DreamGym, Eq. 4): history + task + top-k memories -> reasoning, next
 * state, reward.
 *
 * One KV stream per episode holds everything it ever dreamed there, so its own reasoning is its running state. An answer
 * that must not stand (malformed, or contradicted by its own transcript) is taken back: the stream is rebuilt from the
 * tokens kept here, the only case in which anything is prefilled twice.
 */
import { DreamError } from '../data/errors';
import type { Turn } from '../data/trajectory';
import type { EnvironmentBatch, StepResult, Task } from '../envs/environment';
import type { Generated, SamplingOptions, Sessions } from '../nn/language-model';
import type { DreamedAnswer } from './domain';
import type { DreamCounts, DreamOptions } from './dream-options';
import { deriveSeed } from './random';
import { type Memory, retrieve } from './retrieval';
import { shareBeginning, shareLongOpenings } from './shared-openings';

type TrueTurn = Pick<Turn, 'action' | 'observation' | 'reward' | 'valid'>;

interface Slot {
  task: Task;
  firstObservation: string;
  tokens: number[];
  /** Where in `tokens` the last question begins. */
  lastQuestion: number;
  turns: Pick<Turn, 'action' | 'observation' | 'valid'>[];
  observation: string;
  lost: boolean;
}

export class DreamedEnvironment implements EnvironmentBatch {
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
  private sessions: Sessions | null = null;
  private slots: Slot[] = [];
  private seed = 0;

  constructor(private readonly options: DreamOptions) {}

  /** Starts from each task's stored first observation: the real world is not entered. */
  async reset(tasks: readonly Task[], seed: number): Promise<string[]> {
    this.dispose();
    const { model, domain } = this.options;
    this.seed = seed;
    this.sessions = model.sessions(tasks.length);
    this.slots = tasks.map((task) => ({
      task,
      firstObservation: task.firstObservation,
      tokens: [],
      lastQuestion: 0,
      turns: [],
      observation: task.firstObservation,
      lost: false,
    }));
    const openings = tasks.map((task) => domain.dialect.experience.opening(task, task.firstObservation));
    // An opening beyond the context is for `step` to find: it has a word for it.
    const fits = openings.every((opening) => opening.length <= this.sessions!.contextLength);
    const held = fits ? await shareBeginning(this.sessions, openings) : 0;
    openings.forEach((opening, i) => {
      this.slots[i].tokens.push(...opening);
      this.sessions!.append(i, opening.slice(held));
    });
    await shareLongOpenings(this.sessions, openings);
    return this.slots.map((slot) => slot.firstObservation);
  }

  /**
   * Goes on from true histories instead of the beginning. Throws DreamError `no-true-history` where the domain cannot put
   * a real step into its model's words.
   */
  async resume(tasks: readonly Task[], histories: readonly TrueTurn[][], seed: number): Promise<void> {
    const { domain } = this.options;
    const role = domain.dialect.experience;
    if (!domain.told)
      throw new DreamError(
        'no-true-history',
        'This world’s dreams cannot begin in the middle of an episode.',
        'Act without planning, or plan in the household.',
      );
    await this.reset(tasks, seed);
    histories.forEach((turns, i) => {
      const slot = this.slots[i];
      turns.forEach((turn, t) => {
        const before = turns.slice(0, t);
        this.extend(i, role.question(slot.task, turn.action, []));
        const answer = domain.told!(slot.task, slot.firstObservation, before, turn);
        this.extend(i, [...answer, ...role.reply(answer)]);
        slot.turns.push({ action: turn.action, observation: turn.observation, valid: turn.valid });
        slot.observation = turn.observation;
      });
    });
  }

  async step(actions: readonly (string | null)[]): Promise<(StepResult | null)[]> {
    const { domain, buffer, topK, retrievalTopK } = this.options;
    const role = domain.dialect.experience;
    const results: (StepResult | null)[] = actions.map(() => null);
    const asked = actions.map((_, i) => i).filter((i) => actions[i] !== null && !this.slots[i].lost);

    const queries = asked.map((i) => {
      const { task, observation } = this.slots[i];
      return { room: task.room, state: observation, action: actions[i]!, episode: `dream ${this.seed} ${i}` };
    });
    const memories = await retrieve(buffer, queries, retrievalTopK, topK);
    this.counts.questions += asked.length;
    this.counts.recalled += memories.filter((found) => found.length > 0).length;

    const open: number[] = [];
    asked.forEach((i, j) => {
      const question = role.question(this.slots[i].task, actions[i]!, transitionsOf(memories[j]));
      if (this.options.history === false) this.forget(i);
      this.slots[i].lastQuestion = this.slots[i].tokens.length;
      // A stream that cannot hold the answer ends here; the episode is lost, not judged.
      if (this.slots[i].tokens.length + question.length + role.maxNewTokens > this.sessions!.contextLength) {
        results[i] = this.lose(i);
        return;
      }
      this.extend(i, question);
      open.push(i);
    });

    const failed = await this.ask(open, 'answer', actions, results);
    const stillFailed = await this.ask(failed, 'retry', actions, results);
    for (const i of stillFailed) results[i] = this.lose(i);
    return results;
  }

  dispose(): void {
    this.sessions?.dispose();
    this.sessions = null;
  }

  /** Generates on `streams`; fills `results` and returns the streams whose answer was refused, rolled back. */
  private async ask(
    streams: readonly number[],
    attempt: 'answer' | 'retry',
    actions: readonly (string | null)[],
    results: (StepResult | null)[],
  ): Promise<number[]> {
    if (streams.length === 0) return [];
    const { domain, temperature, stepCheck } = this.options;
    const role = domain.dialect.experience;
    const answers = await this.sessions!.generate(streams, {
      temperature,
      seed: deriveSeed(this.seed, attempt),
      stopTokens: role.stopTokens,
      maxNewTokens: role.maxNewTokens,
      ...this.led(streams, actions),
    });
    const refused: number[] = [];
    streams.forEach((i, j) => {
      this.counts.generatedTokens += answers[j].tokens.length;
      const parsed = answers[j].stopped ? role.parse(answers[j].tokens) : null;
      const contradicts = parsed !== null && this.contradicts(i, actions[i]!, parsed);
      if (!parsed) this.counts.malformed++;
      if (contradicts && stepCheck && this.refuse(i, actions[i]!, results)) return;
      if (parsed && !(contradicts && stepCheck && attempt === 'answer')) {
        if (contradicts) this.counts.contradictions++;
        results[i] = this.accept(i, actions[i]!, answers[j], parsed);
        return;
      }
      this.rebuild(i);
      refused.push(i);
    });
    return refused;
  }

  private led(streams: readonly number[], actions: readonly (string | null)[]): Pick<SamplingOptions, 'allowed'> {
    const role = this.options.domain.dialect.experience;
    if (!role.guide) return {};
    const guides = new Map(
      streams.map((i) => [
        i,
        role.guide!(this.slots[i].firstObservation, this.slots[i].turns, actions[i]!, this.slots[i].task),
      ]),
    );
    return { allowed: (stream, drawn) => guides.get(stream)!(drawn) };
  }

  /** Puts the failure state in place of the model's answer when the text rules the action out; true when it did. */
  private refuse(i: number, action: string, results: (StepResult | null)[]): boolean {
    const { domain } = this.options;
    const { task, firstObservation, turns } = this.slots[i];
    const tokens = domain.refusal(task, firstObservation, turns, action);
    const answer = tokens && domain.dialect.experience.parse(tokens);
    if (!tokens || !answer) return false;
    this.counts.refusals++;
    this.rebuild(i);
    this.sessions!.append(i, tokens);
    results[i] = this.accept(i, action, { tokens, logProbs: [], stopped: true }, answer);
    return true;
  }

  private contradicts(i: number, action: string, { observation }: DreamedAnswer): boolean {
    const { firstObservation, turns } = this.slots[i];
    return this.options.domain.contradicts(firstObservation, [...turns, { action, observation }]);
  }

  private accept(i: number, action: string, generated: Generated, answer: DreamedAnswer): StepResult {
    const { domain, goalCheck } = this.options;
    const role = domain.dialect.experience;
    const slot = this.slots[i];
    // An invalid action leads to the failure state and never to a reward, whatever flag the model wrote.
    const claimed = answer.valid && answer.reward > 0;
    const turn = { action, observation: answer.observation, valid: answer.valid };
    const shown =
      goalCheck && answer.valid && domain.supportsSuccess(slot.task, slot.firstObservation, [...slot.turns, turn]);
    // The check works both ways: a success that the text does not show is refused, one that it shows is granted. A model
    // that misses true successes (a third of them, measured) teaches the policy to avoid them.
    const supported = goalCheck && shown !== null ? shown : claimed;
    const over = supported || domain.isOver?.(answer.observation) === true;
    if (claimed && !supported) this.counts.rejectedSuccesses++;
    if (supported && !claimed) this.counts.grantedSuccesses++;

    slot.turns.push(turn);
    slot.observation = answer.observation;
    if (answer.reward > 0 && !supported) {
      slot.tokens.push(...role.withoutReward(generated.tokens));
      this.rebuild(i);
    } else slot.tokens.push(...generated.tokens);
    if (!over) this.extend(i, role.reply(generated.tokens));

    return {
      observation: answer.observation,
      reward: supported ? 1 : 0,
      done: over,
      valid: answer.valid,
      reasoning: answer.reasoning,
      imagined: true,
    };
  }

  /** Leaves the beginning and the last exchange: the state, without the way that led to it. */
  private forget(i: number): void {
    const slot = this.slots[i];
    const opening = this.options.domain.dialect.experience.opening(slot.task, slot.firstObservation);
    if (slot.lastQuestion <= opening.length) return;
    slot.tokens = [...opening, ...slot.tokens.slice(slot.lastQuestion)];
    this.rebuild(i);
  }

  private lose(i: number): StepResult {
    const slot = this.slots[i];
    slot.lost = true;
    this.counts.lost++;
    return {
      observation: this.options.domain.failureObservation,
      reward: 0,
      done: true,
      valid: false,
      imagined: true,
      lost: true,
    };
  }

  private extend(i: number, tokens: readonly number[]): void {
    this.slots[i].tokens.push(...tokens);
    this.sessions!.append(i, tokens);
  }

  /** Puts the stream back to exactly the tokens that stand. */
  private rebuild(i: number): void {
    this.sessions!.clear(i);
    this.sessions!.append(i, this.slots[i].tokens);
  }
}

const transitionsOf = (memories: readonly Memory[]) => memories.map((memory) => memory.transition);
