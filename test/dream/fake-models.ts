/**
 * @file Two language models in plain code: a table that really learns by policy gradient, and an experience model that
 * knows the box world's rules and can be told to lie, stammer or fall silent.
 */
import { deriveSeed } from '../../src/dream/random';
import type {
  Generated,
  LanguageModel,
  Loss,
  ModelState,
  OptimizerSettings,
  SamplingOptions,
  Sessions,
  TrainSequence,
  TrainStats,
} from '../../src/nn/language-model';
import { rule, words } from './fake-world';

const uniform = (seed: number, stream: number, position: number) => deriveSeed(seed, stream, position) / 0x1_0000_0000;

type Speak = (tokens: readonly number[], stream: number, options: SamplingOptions) => Generated;

class FakeSessions implements Sessions {
  readonly contextLength = 96;
  readonly streams: number[][];
  constructor(
    readonly count: number,
    private readonly speak: Speak,
  ) {
    this.streams = Array.from({ length: count }, () => []);
  }
  length(stream: number): number {
    return this.streams[stream].length;
  }
  append(stream: number, tokens: readonly number[]): void {
    this.streams[stream].push(...tokens);
    if (this.streams[stream].length > this.contextLength) throw new Error('the context is full');
  }
  async generate(streams: readonly number[], options: SamplingOptions): Promise<Generated[]> {
    return streams.map((stream) => {
      const generated = this.speak(this.streams[stream], stream, options);
      this.streams[stream].push(...generated.tokens);
      return generated;
    });
  }
  async copy(from: number, to: readonly number[]): Promise<void> {
    for (const stream of to) this.streams[stream] = [...this.streams[from]];
  }
  clear(stream: number): void {
    this.streams[stream] = [];
  }
  dispose(): void {}
}

abstract class FakeModel implements LanguageModel {
  readonly vocabSize = words.length;
  readonly contextLength = 96;
  abstract sessions(count: number): Sessions;
  async score(sequences: readonly (readonly number[])[]): Promise<Float32Array[]> {
    return sequences.map((s) => new Float32Array(s.length));
  }
  async trainStep(_s: readonly TrainSequence[], _l: Loss, _o: OptimizerSettings): Promise<TrainStats> {
    throw new Error('this fake does not learn');
  }
  async embed(sequences: readonly (readonly number[])[]): Promise<Float32Array[]> {
    return sequences.map(() => new Float32Array(4));
  }
  async exportState(_withOptimizer: boolean): Promise<ModelState> {
    return { step: 0, weights: new Map() };
  }
  async importState(_state: ModelState): Promise<void> {}
  dispose(): void {}
}

/** Logits [second token of the stream (the task), last token, next token]; momentum SGD. */
export class TableModel extends FakeModel {
  private step = 0;
  private readonly logits = new Float32Array(words.length ** 3);
  private readonly momentum = new Float32Array(words.length ** 3);
  readonly trained: { sequences: readonly TrainSequence[]; optimizer: OptimizerSettings; loss: Loss }[] = [];

  constructor() {
    super();
    // A warm start: it knows the words of an action, not which one to say.
    for (let task = 0; task < words.length; task++)
      for (let last = 0; last < words.length; last++)
        for (const [next, logit] of this.habits(words[last])) this.logits[this.index(task, last, next)] = logit;
  }

  private habits(last: string): [number, number][] {
    const say = (text: string, logit: number): [number, number][] =>
      text.split(' ').map((word) => [words.indexOf(word), logit]);
    if (last === 'press') return say('red blue green', 6);
    if (['open', 'red', 'blue', 'green'].includes(last)) return [[words.indexOf('\n'), 7]];
    return say('open press', 6);
  }

  private index(task: number, last: number, next: number): number {
    return (task * words.length + last) * words.length + next;
  }

  private probabilities(task: number, last: number, temperature: number): Float64Array {
    const p = Float64Array.from(words, (_, next) => Math.exp(this.logits[this.index(task, last, next)] / temperature));
    const sum = p.reduce((a, b) => a + b, 0);
    return p.map((x) => x / sum);
  }

  sessions(count: number): Sessions {
    return new FakeSessions(count, (context, stream, options) => {
      const tokens: number[] = [];
      const logProbs: number[] = [];
      let last = context.at(-1)!;
      while (tokens.length < options.maxNewTokens) {
        const u = uniform(options.seed, stream, context.length + tokens.length);
        const p = this.probabilities(context[1], last, options.temperature);
        let token = 0;
        for (let sum = p[0]; sum <= u && token < p.length - 1; sum += p[token]) token++;
        tokens.push(token);
        logProbs.push(Math.log(this.probabilities(context[1], last, 1)[token]));
        if (options.stopTokens.includes(token)) return { tokens, logProbs, stopped: true };
        last = token;
      }
      return { tokens, logProbs, stopped: false };
    });
  }

  override async score(sequences: readonly (readonly number[])[]): Promise<Float32Array[]> {
    return sequences.map((s) =>
      Float32Array.from(s, (token, t) => (t === 0 ? 0 : Math.log(this.probabilities(s[1], s[t - 1], 1)[token]))),
    );
  }

  override async trainStep(
    sequences: readonly TrainSequence[],
    loss: Loss,
    optimizer: OptimizerSettings,
  ): Promise<TrainStats> {
    this.trained.push({ sequences, loss, optimizer });
    const gradient = new Float64Array(this.logits.length);
    let tokens = 0;
    for (const { tokens: s, weights, advantages } of sequences)
      for (let t = 1; t < s.length; t++) {
        if (weights[t] === 0) continue;
        tokens++;
        const p = this.probabilities(s[1], s[t - 1], 1);
        p.forEach((probability, next) => {
          const hit = next === s[t] ? 1 : 0;
          gradient[this.index(s[1], s[t - 1], next)] -= weights[t] * (advantages?.[t] ?? 1) * (hit - probability);
        });
      }
    // Far above the recipe's Adam rate, for a table that sees a few dozen episodes.
    const rate = optimizer.learningRate * 5000;
    for (let i = 0; i < gradient.length; i++) {
      this.momentum[i] = 0.5 * this.momentum[i] + gradient[i];
      this.logits[i] -= rate * this.momentum[i];
    }
    this.step++;
    const norm = Math.sqrt(gradient.reduce((sum, g) => sum + g * g, 0));
    return {
      loss: -norm,
      gradNorm: norm,
      entropy: 1,
      kl: 0,
      clipFraction: 0,
      logProbGap: 0,
      tokens,
      applied: true,
    };
  }

  override async exportState(withOptimizer: boolean): Promise<ModelState> {
    return {
      step: this.step,
      weights: new Map([['logits', this.logits.slice()]]),
      ...(withOptimizer ? { moments1: new Map([['logits', this.momentum.slice()]]) } : {}),
    };
  }

  override async importState(state: ModelState): Promise<void> {
    this.step = state.step;
    this.logits.set(state.weights.get('logits')!);
    this.momentum.fill(0);
    const moments = state.moments1?.get('logits');
    if (moments) this.momentum.set(moments);
  }
}

export interface Manners {
  /** Share of answers that are malformed, decided by (seed, stream, position): a retry may succeed. */
  malformed?: number;
  /** Claims success for anything pressed, and for nothing at all. */
  liar?: boolean;
  /** Share of answers that say what cannot be. */
  confused?: number;
}

/** Answers as the box world's rules say; reads everything from its own stream, like a real model. */
export class KnowingModel extends FakeModel {
  opened: FakeSessions[] = [];
  /** All prompts at the moment of an answer. */
  readonly asked: string[] = [];

  constructor(private readonly manners: Manners = {}) {
    super();
  }

  sessions(count: number): Sessions {
    const sessions = new FakeSessions(count, (tokens, stream, options) => this.answer(tokens, stream, options));
    this.opened.push(sessions);
    return sessions;
  }

  private answer(tokens: readonly number[], stream: number, options: SamplingOptions): Generated {
    const say = (text: string, stopped = true): Generated => {
      const said = text.split(' ').map((word) => words.indexOf(word));
      return { tokens: said, logProbs: said.map(() => -1), stopped };
    };
    const text = tokens.map((token) => words[token]).join(' ');
    this.asked.push(text);
    const u = uniform(options.seed, stream, tokens.length);
    if (text.startsWith('<gen>')) return say(`${['red', 'blue', 'green', 'shut'][Math.floor(u * 4)]} \n`);
    if (u < (this.manners.malformed ?? 0))
      return u < (this.manners.malformed ?? 0) / 2 ? say('> r1') : say('> >', false);
    const action = text.split(' > ').at(-1)!.split(' to')[0];
    const opened = /\n opened r0/.test(text);
    const { observation, reward } = rule(words[tokens[1]], opened, action);
    if (u < (this.manners.confused ?? 0)) return say(`${observation === 'opened' ? 'nothing' : 'opened'} r0`);
    return say(`${observation} r${this.manners.liar ? 1 : reward}`);
  }
}
