/**
 * @file Two language models in plain code that speak English through the dialect: a policy that follows the expert or
 * stumbles, and an experience model that answers by the world's own rules. Both read nothing but their streams.
 */

import type { Domain } from '../../../src/dream/domain';
import { deriveSeed } from '../../../src/dream/random';
import { sentenceOf } from '../../../src/dream/text-household/sentences';
import type { Task } from '../../../src/envs/environment';
import { expertAction, HouseholdWorld, Random, randomAdmissible } from '../../../src/envs/household';
import type { TextTokenizer } from '../../../src/models/text-tokenizer';
import type {
  Generated,
  LanguageModel,
  SamplingOptions,
  Sessions,
  TrainSequence,
} from '../../../src/nn/language-model';

type Speak = (transcript: string, draw: number) => string;

interface Stream {
  length: number;
  text: string;
}

class SpeakingSessions implements Sessions {
  readonly contextLength = 1_000_000;
  private readonly streams: Stream[];
  constructor(
    readonly count: number,
    private readonly tokenizer: TextTokenizer,
    private readonly speak: Speak,
  ) {
    this.streams = Array.from({ length: count }, () => ({ length: 0, text: '' }));
  }
  length(stream: number): number {
    return this.streams[stream].length;
  }
  append(stream: number, tokens: readonly number[]): void {
    const { length, text } = this.streams[stream];
    this.streams[stream] = { length: length + tokens.length, text: text + this.tokenizer.decode(tokens) };
  }
  async generate(streams: readonly number[], options: SamplingOptions): Promise<Generated[]> {
    return streams.map((stream) => {
      const { length, text } = this.streams[stream];
      const said = this.speak(text, deriveSeed(options.seed, stream, length));
      const tokens = [...this.tokenizer.encode(said), options.stopTokens[0]];
      this.append(stream, tokens);
      return { tokens, logProbs: tokens.map(() => -0.5), stopped: true };
    });
  }
  async copy(from: number, to: readonly number[]): Promise<void> {
    for (const stream of to) this.streams[stream] = { ...this.streams[from] };
  }
  clear(stream: number): void {
    this.streams[stream] = { length: 0, text: '' };
  }
  dispose(): void {}
}

export class SpeakingModel implements LanguageModel {
  readonly contextLength = 1_000_000;
  readonly trained: TrainSequence[] = [];
  constructor(
    private readonly tokenizer: TextTokenizer,
    private readonly speak: Speak,
  ) {}
  get vocabSize(): number {
    return this.tokenizer.vocabSize;
  }
  sessions(count: number): Sessions {
    return new SpeakingSessions(count, this.tokenizer, this.speak);
  }
  async score(sequences: readonly (readonly number[])[]): Promise<Float32Array[]> {
    return sequences.map((tokens) => new Float32Array(tokens.length));
  }
  async trainStep(sequences: readonly TrainSequence[]) {
    this.trained.push(...sequences);
    const zero = { loss: 0, gradNorm: 0, entropy: 0, kl: 0, clipFraction: 0, logProbGap: 0, tokens: 0 };
    return { ...zero, applied: true };
  }
  async embed(sequences: readonly (readonly number[])[]): Promise<Float32Array[]> {
    return sequences.map(() => new Float32Array(4));
  }
  async exportState() {
    return { step: 0, weights: new Map<string, Float32Array>() };
  }
  async importState(): Promise<void> {}
  dispose(): void {}
}

/** Finds the task that a transcript is about: the models are told a room and an instruction. */
export class KnownTasks {
  private readonly tasks = new Map<string, Task>();
  private readonly rooms = new Map<string, Task>();
  constructor(private readonly domain: Domain) {
    for (const task of [...domain.trainingTasks(), ...domain.heldOutTasks(20)]) {
      const sentence = sentenceOf(task.firstObservation, 'look');
      const room = sentence.slice(sentence.indexOf('Looking'));
      this.tasks.set(`${room} ${task.instruction}`, task);
      this.rooms.set(room, task);
    }
  }

  /** The world as it was before the transcript's first action. */
  world(transcript: string, instruction: RegExp): HouseholdWorld {
    const room = /Looking quickly around you, you see [^.]*\./.exec(transcript)?.[0] ?? '';
    const said = instruction.exec(transcript)?.[1] ?? '';
    const known = this.tasks.get(`${room} ${said}`);
    const task = known ?? this.domain.taskFrom(this.rooms.get(room)!, said);
    if (!task) throw new Error(`no such task: ${said}`);
    const world = new HouseholdWorld();
    world.reset(task);
    return world;
  }
}

/** The lines `Action: ...` that end a turn. */
const actionsIn = (text: string): string[] => [...text.matchAll(/\nAction: (.*?)<\|/g)].map(([, action]) => action);

/** Follows the expert; one turn in `stumbles` it does anything, one in `stammers` it says no command. */
export function policySpeaker(tasks: KnownTasks, stumbles = 4, stammers = 9): Speak {
  return (transcript, draw) => {
    const world = tasks.world(transcript, /Your task is to: (.*?)\.\s*<\|/s);
    for (const action of actionsIn(transcript.slice(transcript.indexOf('Your task is to:')))) world.step(action);
    if (draw % stammers === 0) return 'Let me think about it.';
    const action = draw % stumbles === 0 ? randomAdmissible(world, new Random(draw)) : expertAction(world);
    return ` step by step.\nAction: ${action}`;
  };
}

/** The rules in words; one answer in `stammers` cannot be read. As a generator it knows one task. */
export function experienceSpeaker(tasks: KnownTasks, stammers = 7): Speak {
  return (transcript, draw) => {
    if (transcript.includes('You invent tasks')) return draw % 2 === 0 ? 'Put two cup in cabinet.' : 'I have no idea.';
    if (draw % stammers === 0) return 'Observation: the agent is confused.';
    const world = tasks.world(transcript, /\nTask: (.*?)\n/);
    const actions = actionsIn(transcript);
    const results = actions.map((action) => world.step(action));
    const { observation, valid, reward } = results[results.length - 1];
    const sentence = sentenceOf(observation, actions[actions.length - 1]);
    return ` by the rules.\nValid: ${valid ? 'yes' : 'no'}\nObservation: ${sentence}\nReward: ${reward}`;
  };
}
