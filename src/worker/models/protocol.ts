/** @file The typed surface between the page's panel "Models" and its worker. Plain, cloneable data. */
import type { TextSettings } from '../../dream/text-household';
import type { TextModelLimits } from '../../dream/text-models/text-model';
import type { WeightType } from '../../dream/text-models/transformers/protocol';
import type { MemoryPlan } from '../../models/memory-plan';
import type { DecoderConfig } from '../../nn/config';
import type { Precision } from '../../nn/precision';
import type { RunConfig, RunEvent, RunStatus, TrainerApi, TypedError } from '../protocol';

/** A picked or dropped file; a File's own path is lost on its way through `postMessage`. */
export interface PickedFile {
  /** Path within the picked folder, or the name. */
  path: string;
  file: Blob;
}

export type ModelChoice =
  /** What the page trains now. */
  | { kind: 'embedded' }
  | { kind: 'files'; files: readonly PickedFile[] }
  /** `owner/name@revision:version`. The token goes to the hub only and is kept in memory only. */
  | { kind: 'hub'; id: string; token?: string };

export interface StoredAs {
  /** As the file calls it: `Q4_1`, `BF16`, ... */
  type: string;
  tensors: number;
  bytes: number;
}

export interface DownloadFacts {
  repository: string;
  commit: string;
  files: { path: string; bytes: number }[];
  totalBytes: number;
  /** Bytes that are not on this machine yet. */
  fetchBytes: number;
}

/** What the headers say; no weights were read. */
export interface ModelFacts {
  kind: ModelChoice['kind'];
  label: string;
  architecture: string;
  parameters: number;
  config: DecoderConfig;
  /** Bytes of the weights as stored. */
  weightBytes: number;
  storedAs: StoredAs[];
  hasTokenizer: boolean;
  hasChatTemplate: boolean;
  /** Why the tokenizer cannot be used although there is one. */
  tokenizerProblem: TypedError | null;
  /** One of several models was chosen, and the like. */
  notes: string[];
  download: DownloadFacts | null;
}

/** The graphics processor as far as a page may know it. */
export interface DeviceFacts {
  adapter: string;
  software: boolean;
  /** The most that one buffer may hold. */
  largestBufferBytes: number;
}

export interface PlanInputs {
  /** LoRA rank for training; 0 = only use it. */
  rank: number;
  contextLength: number;
  /** Episodes that generate together. */
  streams: number;
  /** Tokens of a forward and backward pass. */
  passTokens: number;
  budgetBytes: number;
  /** How keys and values are kept while it generates; left out = `f32`. */
  precision?: Precision;
}

export interface PlanAnswer extends MemoryPlan {
  /** Null: no graphics processor answered, and the plan is for the smallest that WebGPU allows. */
  device: DeviceFacts | null;
}

export interface LoadProgress {
  phase: 'opening' | 'checking' | 'fetching' | 'self-test' | 'loading';
  /** The file or tensor at work. */
  detail: string;
  /** Bytes; 0 of 0 where nothing is counted. */
  done: number;
  total: number;
  bytesPerSecond: number;
  secondsLeft: number | null;
  paused: boolean;
}

export interface LoadedFacts {
  label: string;
  device: DeviceFacts;
  contextLength: number;
  precision: Precision;
  /** Held on the device now. */
  gpuBytes: number;
  hasTokenizer: boolean;
  hasChatTemplate: boolean;
  seconds: number;
  adapter: AdapterState | null;
}

export interface AdapterState {
  name: string;
  rank: number;
  alpha: number;
  modules: number;
  baseModel: string;
  enabled: boolean;
}

export interface GenerateRequest {
  prompt: string;
  /** Write the prompt as a user's message into the model's chat template. */
  chat: boolean;
  /** 0 = always the likeliest token. */
  temperature: number;
  maxTokens: number;
  seed: number;
}

/** Token ids with their text; the first token of a scored text has no log-probability (0). */
export interface TokenList {
  tokens: number[];
  names: string[];
  logProbs: number[];
}

export interface GenerateAnswer extends TokenList {
  text: string;
  promptTokens: number;
  ended: 'model' | 'length' | 'stopped';
  /** Of the answer, the reading of the prompt apart; null for an answer of a single step. */
  tokensPerSecond: number | null;
  /** Until the first tokens were there. */
  firstSeconds: number;
}

export interface ScoreAnswer extends TokenList {
  perplexity: number;
  tokensPerSecond: number;
}

export interface KeptModel {
  /** `owner/name` */
  repository: string;
  bytes: number;
  complete: boolean;
}

export type ExperienceTarget =
  | { kind: 'loaded' }
  | { kind: 'endpoint'; baseUrl: string; model: string; key?: string }
  | { kind: 'transformers'; id: string; revision?: string; device: 'webgpu' | 'wasm'; weights: WeightType }
  /** The browser's own model lives in the window and is lent over a port. */
  | { kind: 'built-in'; port: MessagePort };

export interface ExperienceTask {
  id: string;
  instruction: string;
  firstObservation: string;
  /** An action that this room allows. */
  suggestion: string;
}

export interface ExperienceRequest {
  taskId: string;
  action: string;
  temperature: number;
  maxTokens: number;
  seed: number;
}

export interface ExperienceReply {
  label: string;
  limits: TextModelLimits;
  /** What it wrote, one text per attempt. */
  raw: string[];
  /** The question is longer than the model's context. */
  tooLong: boolean;
  /** As the dream would go on. `lost`: no attempt could be read. */
  observation: string;
  reasoning: string;
  reward: number;
  done: boolean;
  valid: boolean;
  lost: boolean;
  /** The room's own rules answered in its place: the text rules the action out. */
  refused: boolean;
  seconds: number;
}

/** Who is similar, for the memories that a dream is shown. Only dreams in text can be given an encoder. */
export type RecallChoice =
  /** The run's own: same room, same action, hashed words. */
  | { kind: 'words' }
  /** The loaded model's pooled hidden states: nothing to download. */
  | { kind: 'model' }
  /** A sentence encoder in transformers.js, fetched from the hub. */
  | { kind: 'encoder'; id: string };

/** How a run of the loaded model goes on: who dreams. `loaded`: the same model without its adapter. */
export interface DreamChoice {
  dream: ExperienceTarget;
  recall: RecallChoice;
}

export interface TrainingRequest extends DreamChoice {
  settings: Partial<RunConfig>;
  text: Partial<TextSettings>;
  /** Of a new adapter; an imported one keeps its own. */
  rank: number;
  alpha: number;
}

export type ModelsEvent =
  | { type: 'progress'; progress: LoadProgress }
  /** Pieces of the answer as they come. */
  | { type: 'text'; text: string; tokens: number }
  | { type: 'asked'; detail: string }
  /** Of the run that trains the loaded model. */
  | { type: 'run'; event: RunEvent }
  /** What is loaded has changed: it carries an adapter now. */
  | { type: 'loaded'; loaded: LoadedFacts }
  /** The device is gone, and with it what was loaded. */
  | { type: 'lost'; error: TypedError };

/** What the worker offers through Comlink. All methods reject with DreamErrors. */
export interface ModelsApi {
  subscribe(listener: (event: ModelsEvent) => void): void;
  /** Reads headers. A newer call makes an older one reject with `superseded`. */
  inspect(choice: ModelChoice): Promise<ModelFacts>;
  /** Of what was inspected last. */
  plan(inputs: PlanInputs): Promise<PlanAnswer>;
  /** Downloads where needed, and loads what was inspected last. What was loaded before makes room first. */
  load(inputs: PlanInputs): Promise<LoadedFacts>;
  pauseDownload(): void;
  resumeDownload(): void;
  /** Finished files of a download are kept, the unfinished one is not: to go on later, pause. */
  cancelLoad(): void;
  loaded(): LoadedFacts | null;
  unload(): Promise<void>;
  generate(request: GenerateRequest): Promise<GenerateAnswer>;
  /** Ends the generation or the question under way. */
  stop(): void;
  score(text: string): Promise<ScoreAnswer>;
  /** Loads the base again with room for the adapter. */
  importAdapter(files: readonly PickedFile[]): Promise<LoadedFacts>;
  setAdapter(enabled: boolean): LoadedFacts;
  removeAdapter(): Promise<LoadedFacts>;
  exportAdapter(format: 'peft' | 'gguf'): Promise<{ name: string; bytes: Uint8Array<ArrayBuffer> }>;
  kept(): Promise<KeptModel[]>;
  removeKept(repository: string): Promise<void>;
  experienceTasks(): ExperienceTask[];
  ask(target: ExperienceTarget, request: ExperienceRequest): Promise<ExperienceReply>;
  /** Trains the loaded model. It accepts nothing else until the run has ended or was stopped. */
  startTraining(request: TrainingRequest): Promise<void>;
  /** One iteration, then pause. With a request and no run under way: begins one. */
  stepTraining(request: TrainingRequest): Promise<void>;
  pauseTraining(): Promise<void>;
  /** The paused run, or the last unfinished one that this browser keeps. */
  resumeTraining(choice: DreamChoice): Promise<void>;
  /** Resolves when the run has ended; its last finished iteration is kept. */
  stopTraining(): Promise<void>;
  training(): RunStatus;
  lastTraining(): ReturnType<TrainerApi['lastRun']>;
  exportTraining(): Promise<Uint8Array>;
}
