/**
 * @file The browser's own language model (`LanguageModel`, the Prompt API), where there is one.
 *
 * It exists in windows only, not in workers: the page opens it and lends it to the trainer over a port (remote-model.ts).
 * It knows no seed, no token limit and no stop string, so the answer is streamed and cut here.
 */
import { DreamError } from '../../data/errors';
import { cutAtStop, type TextCompletion, type TextModel, type TextModelLimits, type TextRequest } from './text-model';

type Availability = 'unavailable' | 'downloadable' | 'downloading' | 'available';

interface PromptOptions {
  signal?: AbortSignal;
}

export interface BuiltInSession {
  prompt(input: string, options?: PromptOptions): Promise<string>;
  /** Pieces as they come, not the text so far. */
  promptStreaming?(input: string, options?: PromptOptions): ReadableStream<string>;
  destroy(): void;
}

interface DownloadMonitor {
  addEventListener(type: 'downloadprogress', listener: (event: { loaded: number; total?: number }) => void): void;
}

export interface BuiltInCreateOptions {
  initialPrompts?: { role: string; content: string }[];
  temperature?: number;
  topK?: number;
  signal?: AbortSignal;
  monitor?: (monitor: DownloadMonitor) => void;
}

/** The part of the interface that is used here. */
export interface BuiltInLanguageModel {
  availability(): Promise<Availability>;
  create(options?: BuiltInCreateOptions): Promise<BuiltInSession>;
  /** Absent or null where a page may not choose how to sample. */
  params?(): Promise<{ defaultTopK: number; maxTopK: number; maxTemperature: number } | null>;
}

export interface BuiltInOptions {
  /** Fraction 0..1 of the browser's own download. */
  onProgress?: (fraction: number) => void;
  signal?: AbortSignal;
  /** Replaced in tests. */
  languageModel?: BuiltInLanguageModel;
}

interface Sampling {
  topK: number;
  maxTemperature: number;
}

/** Characters per token: an answer longer than this many times `maxTokens` is cut. */
const charactersPerToken = 6;

/** 'absent' where the browser has no such model at all. Asks for nothing, downloads nothing. */
export async function builtInAvailability(
  languageModel: BuiltInLanguageModel | undefined = browserModel(),
): Promise<Availability | 'absent'> {
  return languageModel ? languageModel.availability() : 'absent';
}

/**
 * Opens the browser's model; the browser downloads it first where it has to (only after a click of the reader).
 * Throws DreamError `built-in-absent`, `built-in-unavailable`, `built-in-needs-click`, `built-in-failed`.
 */
export async function openBuiltInModel(options: BuiltInOptions = {}): Promise<TextModel> {
  const languageModel = options.languageModel ?? browserModel();
  if (!languageModel) throw absent();
  if ((await languageModel.availability()) === 'unavailable') throw unavailable();
  const { onProgress, signal } = options;
  try {
    // A session is made once for the download, and so that what is wrong shows now.
    const session = await languageModel.create({
      signal,
      monitor: (monitor) => monitor.addEventListener('downloadprogress', (event) => onProgress?.(fractionOf(event))),
    });
    session.destroy();
  } catch (error) {
    throw typed(error, signal);
  }
  return new BuiltInTextModel(languageModel, await samplingOf(languageModel));
}

class BuiltInTextModel implements TextModel {
  readonly kind = 'built-in';
  readonly label = 'the browser’s own model';
  readonly limits: TextModelLimits;
  private readonly closing = new AbortController();

  constructor(
    private readonly languageModel: BuiltInLanguageModel,
    private readonly sampling: Sampling | null,
  ) {
    this.limits = {
      logProbabilities: false,
      training: false,
      concurrency: 1,
      reason: [
        'The browser’s model answers in text, one question at a time; it cannot be trained or seeded, so a run with it cannot be repeated exactly.',
        ...(sampling ? [] : ['This browser lets no page choose the temperature.']),
      ].join(' '),
    };
  }

  async complete(requests: readonly TextRequest[], signal?: AbortSignal): Promise<TextCompletion[]> {
    const stop = AbortSignal.any([this.closing.signal, ...(signal ? [signal] : [])]);
    const completions: TextCompletion[] = [];
    for (const request of requests) completions.push(await this.one(request, stop));
    return completions;
  }

  dispose(): void {
    this.closing.abort(new DOMException('The model was disposed.', 'AbortError'));
  }

  private async one(request: TextRequest, signal: AbortSignal): Promise<TextCompletion> {
    signal.throwIfAborted();
    const { messages, temperature } = request;
    let session: BuiltInSession | undefined;
    try {
      session = await this.languageModel.create({
        initialPrompts: messages.slice(0, -1).map(({ role, content }) => ({ role, content })),
        signal,
        // Both or neither: the interface refuses one alone.
        ...(this.sampling
          ? {
              temperature: Math.min(temperature, this.sampling.maxTemperature),
              topK: temperature === 0 ? 1 : this.sampling.topK,
            }
          : {}),
      });
      return await answer(session, request, signal);
    } catch (error) {
      if (!signal.aborted && nameOf(error) === 'QuotaExceededError') return { text: '', finishReason: 'length' };
      throw typed(error, signal);
    } finally {
      session?.destroy();
    }
  }
}

async function answer(session: BuiltInSession, request: TextRequest, signal: AbortSignal): Promise<TextCompletion> {
  const question = request.messages.at(-1)?.content ?? '';
  const longest = request.maxTokens * charactersPerToken;
  if (!session.promptStreaming) {
    const { text } = cutAtStop(await session.prompt(question, { signal }), request.stop);
    return text.length > longest
      ? { text: text.slice(0, longest), finishReason: 'length' }
      : { text, finishReason: 'stop' };
  }
  const reader = session.promptStreaming(question, { signal }).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { text, finishReason: 'stop' };
    text += value;
    const { text: kept, cut } = cutAtStop(text, request.stop);
    if (!cut && text.length <= longest) continue;
    await reader.cancel();
    return cut ? { text: kept, finishReason: 'stop' } : { text: text.slice(0, longest), finishReason: 'length' };
  }
}

/** Null where the page has no say in sampling. */
async function samplingOf(languageModel: BuiltInLanguageModel): Promise<Sampling | null> {
  try {
    const params = await languageModel.params?.();
    return params ? { topK: Math.min(params.maxTopK, 40), maxTemperature: params.maxTemperature } : null;
  } catch {
    return null;
  }
}

function browserModel(): BuiltInLanguageModel | undefined {
  const { LanguageModel: found } = globalThis as { LanguageModel?: BuiltInLanguageModel };
  return typeof found?.availability === 'function' ? found : undefined;
}

const fractionOf = ({ loaded, total }: { loaded: number; total?: number }) =>
  Math.min(1, total && total > 1 ? loaded / total : loaded);

const nameOf = (error: unknown) => (error instanceof Error || error instanceof DOMException ? error.name : '');

function typed(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  if (error instanceof DreamError) return error;
  if (nameOf(error) === 'NotAllowedError')
    return new DreamError(
      'built-in-needs-click',
      'The browser begins the download of its model only after a click, and only if its settings allow it.',
      'Press the button again; if that does not help, allow the built-in model in the browser’s settings.',
    );
  const message = error instanceof Error ? error.message : String(error);
  return new DreamError(
    'built-in-failed',
    `The browser’s model failed: ${message.slice(0, 300)}`,
    'Try again, or choose another experience model.',
  );
}

const absent = () =>
  new DreamError(
    'built-in-absent',
    'This browser has no built-in language model.',
    'Use a recent desktop Chrome or Edge, or choose another experience model.',
  );

const unavailable = () =>
  new DreamError(
    'built-in-unavailable',
    'This browser has a built-in language model, but not for this machine.',
    'It needs enough free disk space and graphics memory, and may be switched off by a policy. Choose another model.',
  );
