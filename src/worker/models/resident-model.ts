/** @file A model on the GPU with its tokenizer and, at times, an adapter over it: it continues a text and weighs one. */
import { DreamError } from '../../data/errors';
import { type ChatCodec, engineTextModel } from '../../dream/text-models/engine-model';
import type { TextModel } from '../../dream/text-models/text-model';
import type { Gpu } from '../../gpu/device';
import { adapterFromEngine, adapterToEngine, type LoraAdapter, loraSettings } from '../../models/adapters';
import { PROJECTIONS } from '../../models/adapters/adapter';
import { type LoadOptions, loadModel } from '../../models/load-model';
import { TextStream } from '../../models/text-stream';
import type { TextTokenizer } from '../../models/text-tokenizer';
import type { DecoderModel } from '../../nn/decoder-model';
import { initialise } from '../../nn/initialise';
import type { LoraSettings } from '../../nn/lora';
import type { Precision } from '../../nn/precision';
import type { OpenedModel } from './model-choice';
import { deviceFacts } from './model-device';
import type { AdapterState, GenerateAnswer, GenerateRequest, LoadedFacts, ScoreAnswer, TokenList } from './protocol';

/** The sampler looks at the GPU every four tokens; a piece of the answer is as long. */
const PIECE_TOKENS = 4;
/** The engine ends a generation at no more than so many different tokens. */
const MAX_STOPS = 4;

export interface NamedAdapter {
  name: string;
  adapter: LoraAdapter;
}

/** An adapter that has learned nothing yet. */
export interface FreshAdapter {
  name: string;
  fresh: LoraSettings;
  seed: number;
}

export type ResidentAdapter = NamedAdapter | FreshAdapter;

/** How much room the model has. */
export interface Residence {
  contextLength: number;
  /** Tokens of a forward and backward pass. */
  passTokens: number;
  /** How keys and values are kept; left out = `f32`. */
  precision?: Precision;
}

export class ResidentModel {
  private constructor(
    private readonly gpu: Gpu,
    readonly opened: OpenedModel,
    readonly residence: Residence,
    private readonly model: DecoderModel,
    private adapter: AdapterState | null,
    private readonly given: ResidentAdapter | null,
    private readonly seconds: number,
  ) {}

  /** Throws what `loadModel` and `adapterToEngine` throw; nothing stays on the GPU then. */
  static async load(
    gpu: Gpu,
    opened: OpenedModel,
    { contextLength, passTokens, precision = 'f32' }: Residence,
    given: ResidentAdapter | null = null,
    hooks: Pick<LoadOptions, 'signal' | 'onProgress'> = {},
  ): Promise<ResidentModel> {
    const start = performance.now();
    const lora = given && settingsOf(given);
    const room = { contextLength, tokensPerPass: passTokens, precision };
    const model = await loadModel(gpu, opened.source, { ...room, lora, ...hooks });
    try {
      if (given) lay(given, model);
      await gpu.finish();
    } catch (error) {
      model.dispose();
      gpu.memory.trim();
      throw error;
    }
    const state = given && { ...describe(given, opened, model), enabled: true };
    const seconds = (performance.now() - start) / 1000;
    return new ResidentModel(gpu, opened, { contextLength, passTokens, precision }, model, state, given, seconds);
  }

  facts(): LoadedFacts {
    const { gpu, opened, model, adapter, seconds } = this;
    return {
      label: opened.facts.label,
      device: deviceFacts(gpu),
      contextLength: model.contextLength,
      precision: model.precision,
      gpuBytes: gpu.bytesAllocated,
      hasTokenizer: opened.facts.hasTokenizer,
      hasChatTemplate: opened.facts.hasChatTemplate,
      seconds,
      adapter: adapter && { ...adapter },
    };
  }

  /** `onText` gets every piece as it comes. Throws `no-tokenizer`, `no-chat-template`, `no-text`, `context-full`. */
  async generate(
    request: GenerateRequest,
    signal: AbortSignal,
    onText: (text: string, tokens: number) => void,
  ): Promise<GenerateAnswer> {
    const tokenizer = this.tokenizer();
    const { prompt, chat, temperature, seed } = request;
    const tokens = chat
      ? tokenizer.chatTokens([{ role: 'user', content: prompt }], { addGenerationPrompt: true })
      : tokenizer.encode(prompt, { addSpecial: true });
    if (tokens.length === 0) throw noText('There is no prompt.');
    const room = this.model.contextLength - tokens.length;
    if (room < 1) throw tooLong(tokens.length, this.model.contextLength);
    const stopTokens = tokenizer.stopIds.slice(0, MAX_STOPS);
    const limit = Math.min(request.maxTokens, room);
    const stream = new TextStream(tokenizer, { skipSpecial: true });
    const answer = { tokens: [] as number[], logProbs: [] as number[] };
    const say = (text: string): void => onText(text, answer.tokens.length);
    let text = '';
    let ended: GenerateAnswer['ended'] = 'length';
    const sessions = this.model.sessions(1);
    const start = performance.now();
    let first = 0;
    let firstTokens = 0;
    try {
      sessions.append(0, tokens);
      while (answer.tokens.length < limit && ended === 'length') {
        // Drawn by position and seed: pieces are the same tokens as the whole at once.
        const maxNewTokens = Math.min(PIECE_TOKENS, limit - answer.tokens.length);
        const [piece] = await sessions.generate([0], { temperature, seed, stopTokens, maxNewTokens });
        answer.tokens.push(...piece.tokens);
        answer.logProbs.push(...piece.logProbs);
        if (first === 0) {
          first = performance.now();
          firstTokens = answer.tokens.length;
        }
        const spoken = stream.push(piece.tokens);
        text += spoken;
        say(spoken);
        if (piece.stopped) ended = 'model';
        else if (piece.tokens.length === 0) break;
        else if (signal.aborted) ended = 'stopped';
      }
    } finally {
      sessions.dispose();
    }
    const end = performance.now();
    const rest = stream.flush();
    if (rest) say(rest);
    const later = answer.tokens.length - firstTokens;
    return {
      ...answer,
      names: answer.tokens.map((token) => tokenizer.decode([token])),
      text: text + rest,
      promptTokens: tokens.length,
      ended,
      tokensPerSecond: later > 0 ? (1000 * later) / (end - first) : null,
      firstSeconds: (first - start) / 1000,
    };
  }

  /** Throws `no-tokenizer`, `no-text`, `context-full`. */
  async score(text: string): Promise<ScoreAnswer> {
    const tokenizer = this.tokenizer();
    const tokens = tokenizer.encode(text, { addSpecial: true });
    if (tokens.length < 2) throw noText('The text is too short: the first token is only read, not predicted.');
    if (tokens.length > this.model.contextLength) throw tooLong(tokens.length, this.model.contextLength);
    const start = performance.now();
    const [scores] = await this.model.score([tokens]);
    const seconds = (performance.now() - start) / 1000;
    const list: TokenList = {
      tokens,
      names: tokens.map((token) => tokenizer.decode([token])),
      logProbs: Array.from(scores),
    };
    const mean = list.logProbs.reduce((sum, logProb) => sum + logProb, 0) / (tokens.length - 1);
    return { ...list, perplexity: Math.exp(-mean), tokensPerSecond: tokens.length / seconds };
  }

  setAdapter(enabled: boolean): void {
    if (!this.adapter) throw noAdapter();
    for (const lora of this.model.decoder.weights.adapted.values()) lora.enabled = enabled;
    this.adapter = { ...this.adapter, enabled };
  }

  /** The adapter's weights as they are on the GPU now. Throws `no-lora`. */
  async readAdapter(): Promise<LoraAdapter> {
    if (!this.adapter) throw noAdapter();
    const { rank, alpha } = loraSettings(this.adapter);
    const weights = new Map<string, Float32Array>();
    for (const { name, weight, count } of this.model.decoder.adapters)
      weights.set(name, await this.gpu.readF32(weight, count));
    const baseModel = this.opened.facts.download?.repository ?? this.opened.facts.label;
    return adapterFromEngine(weights, this.model.config, { rank, alpha }, { baseModel });
  }

  /** As they are on the GPU: the rank a multiple of 4. */
  adapterSettings(): LoraSettings | null {
    return this.given && settingsOf(this.given);
  }

  /** What a run trains, with the adapter as it was when it came. Throws `no-lora`, `no-tokenizer`. */
  trainable(seed: number): { gpu: Gpu; model: DecoderModel; tokenizer: TextTokenizer; lora: LoraSettings } {
    const { gpu, model, given } = this;
    if (!given) throw noAdapter();
    this.setAdapter(true);
    lay('fresh' in given ? { ...given, seed } : given, model);
    return { gpu, model, tokenizer: this.tokenizer(), lora: settingsOf(given) };
  }

  /** As an experience model. Throws `no-tokenizer`, `no-chat-template`. */
  textModel(): TextModel {
    const tokenizer = this.tokenizer();
    if (!tokenizer.hasChatTemplate)
      throw new DreamError(
        'no-chat-template',
        'An experience model is asked in a chat, and this model brings no chat template.',
        'Load the instruction-tuned version of a model, or ask one of the others.',
      );
    const codec: ChatCodec = {
      encode: (messages) => tokenizer.chatTokens(messages, { addGenerationPrompt: true }),
      decode: (tokens) => tokenizer.decode(tokens, { skipSpecial: true }),
      stopTokens: tokenizer.stopIds.slice(0, MAX_STOPS),
    };
    return engineTextModel(this.model, codec, { label: this.opened.facts.label, concurrency: 1 });
  }

  /** Gives everything on the GPU back; the files stay open for another loading. */
  dispose(): void {
    this.model.dispose();
    this.gpu.memory.trim();
  }

  private tokenizer(): TextTokenizer {
    const { tokenizer, facts } = this.opened;
    if (tokenizer) return tokenizer;
    const { code, message, advice } = facts.tokenizerProblem ?? {
      code: 'no-tokenizer',
      message: `${facts.label} brings no tokenizer, so it cannot read text.`,
      advice: 'Choose tokenizer.json and tokenizer_config.json of the same model together with the weights.',
    };
    throw new DreamError(code, message, advice);
  }
}

const settingsOf = (given: ResidentAdapter): LoraSettings =>
  'fresh' in given ? given.fresh : loraSettings(given.adapter);

function lay(given: ResidentAdapter, model: DecoderModel): void {
  if ('fresh' in given) initialise(model, given.seed, 'adapters');
  else model.setWeights(adapterToEngine(given.adapter, model.config));
}

function describe(
  given: ResidentAdapter,
  { facts }: OpenedModel,
  { config }: DecoderModel,
): Omit<AdapterState, 'enabled'> {
  const { name } = given;
  if ('fresh' in given) {
    const modules = config.layers * PROJECTIONS.length;
    return { name, ...given.fresh, modules, baseModel: facts.download?.repository ?? facts.label };
  }
  const { rank, alpha, modules, baseModel } = given.adapter;
  return { name, rank, alpha, modules: modules.size, baseModel };
}

const noText = (message: string): DreamError => new DreamError('no-text', message, 'Write a sentence or two.');

const tooLong = (tokens: number, context: number): DreamError =>
  new DreamError(
    'context-full',
    `The text has ${tokens} tokens; the model was loaded for ${context}.`,
    'Shorten the text, or load the model again with a longer context.',
  );

export const noAdapter = (): DreamError =>
  new DreamError('no-lora', 'There is no adapter over this model.', 'Import one first: a PEFT zip or a GGUF LoRA.');
