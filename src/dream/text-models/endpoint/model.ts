/**
 * @file Any OpenAI-compatible endpoint as a text model: a server on this machine (Ollama, llama.cpp, vLLM, LM Studio) or
 * one elsewhere.
 *
 * The key lives in one private field. It is sent in one header and nowhere else: not in errors, not in `JSON.stringify`,
 * not across `postMessage`; when the page closes it is gone.
 */
import type { DreamError } from '../../../data/errors';
import { readLimited } from '../../../envs/remote/limited-text';
import { Slots } from '../../../envs/remote/pace';
import type { TextCompletion, TextModel, TextModelLimits, TextRequest } from '../text-model';
import { checkedKey, type EndpointAddress, endpointAddress } from './address';
import * as errors from './errors';
import { backOffMs, retryAfterMs, wait } from './pace';
import {
  isContextOverflow,
  type OptionalParameter,
  readCompletion,
  readError,
  requestBody,
  type ServerError,
  unsupportedParameter,
} from './wire';

export interface EndpointOptions {
  /** `http://localhost:11434`, `https://host/v1`, … */
  baseUrl: string;
  model: string;
  /** Kept in memory only. */
  key?: string;
  /** Requests under way at once. Default 4. */
  concurrency?: number;
  /** For one attempt, from sending to the last byte. Default 120,000. */
  timeoutMs?: number;
  /** Further attempts after a failure that may pass. Default 5. */
  maxRetries?: number;
  /** A server that asks for a longer pause than this is not waited for. Default 120,000. */
  longestPauseMs?: number;
  /** Ask for the log-probabilities of the answer. Default false. */
  logProbabilities?: boolean;
  fetch?: typeof globalThis.fetch;
  random?: () => number;
  /** Replaced in tests. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

type Outcome =
  | { kind: 'done'; completion: TextCompletion }
  | { kind: 'again' }
  | { kind: 'failed'; error: DreamError; retries: number; pauseMs: number | null };

const largestAnswerBytes = 4 * 1024 * 1024;

export class EndpointTextModel implements TextModel {
  readonly kind = 'endpoint';
  readonly label: string;
  readonly #key: string | undefined;
  private readonly address: EndpointAddress;
  private readonly slots: Slots;
  private readonly closing = new AbortController();
  private readonly refused = new Set<OptionalParameter>();
  private returnsLogProbabilities: boolean;
  /** No request starts before this (ms, `Date.now`): one 429 holds all of them. */
  private pausedUntil = 0;
  private hasAnswered = false;

  /** Throws DreamError `endpoint-address-invalid`, `endpoint-key-invalid`. Sends nothing. */
  constructor(
    private readonly options: Omit<EndpointOptions, 'key'>,
    key?: string,
  ) {
    this.address = endpointAddress(options.baseUrl);
    this.#key = checkedKey(key, this.address);
    this.label = `${options.model} at ${this.address.display}`;
    this.slots = new Slots(Math.max(1, options.concurrency ?? 4));
    this.returnsLogProbabilities = options.logProbabilities ?? false;
  }

  get limits(): TextModelLimits {
    const missing = [...this.refused].filter((name) => name !== 'max_tokens');
    return {
      logProbabilities: this.returnsLogProbabilities,
      training: false,
      concurrency: this.slots.count,
      reason: [
        'An endpoint answers in text; its weights are out of reach, so it can dream but not learn.',
        'Prompts leave this machine if the server is elsewhere. Seeds are passed on, but a server need not honour them.',
        ...(missing.length > 0 ? [`This server refuses: ${missing.join(', ')}.`] : []),
      ].join(' '),
    };
  }

  async complete(requests: readonly TextRequest[], signal?: AbortSignal): Promise<TextCompletion[]> {
    const batch = new AbortController();
    const stop = AbortSignal.any([batch.signal, this.closing.signal, ...(signal ? [signal] : [])]);
    try {
      return await Promise.all(
        requests.map((request) => {
          // A signal of its own: hundreds of listeners on one look like a leak to Node.
          const own = AbortSignal.any([stop]);
          return this.slots.run(() => this.one(request, own), own);
        }),
      );
    } catch (error) {
      // One failure ends the batch; the rest must not go on costing money.
      batch.abort(error);
      throw error;
    }
  }

  dispose(): void {
    this.closing.abort(new DOMException('The endpoint was closed.', 'AbortError'));
  }

  /** What may be shown or stored: never the key. */
  toJSON(): { kind: string; label: string } {
    return { kind: this.kind, label: this.label };
  }

  private async one(request: TextRequest, signal: AbortSignal): Promise<TextCompletion> {
    const { maxRetries = 5, longestPauseMs = 120_000, random = Math.random } = this.options;
    const pause = this.options.wait ?? wait;
    for (let attempt = 0; ; ) {
      const held = this.pausedUntil - Date.now();
      if (held > 0) await pause(held + random() * 250, signal);
      signal.throwIfAborted();
      const outcome = await this.attempt(request, signal);
      if (outcome.kind === 'done') return outcome.completion;
      if (outcome.kind === 'again') continue;
      const { error, retries, pauseMs } = outcome;
      if (attempt >= Math.min(retries, maxRetries) || (pauseMs ?? 0) > longestPauseMs) throw error;
      const delay = Math.max(pauseMs ?? 0, backOffMs(attempt, random));
      attempt++;
      if (pauseMs !== null) this.pausedUntil = Math.max(this.pausedUntil, Date.now() + pauseMs);
      await pause(delay, signal);
    }
  }

  private async attempt(request: TextRequest, signal: AbortSignal): Promise<Outcome> {
    const { timeoutMs = 120_000 } = this.options;
    const send = this.options.fetch ?? globalThis.fetch;
    const timeout = AbortSignal.timeout(timeoutMs);
    let response: Response;
    let text: string | null;
    try {
      response = await send(this.address.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          ...(this.#key ? { authorization: `Bearer ${this.#key}` } : {}),
        },
        body: requestBody(this.options.model, request, this.options.logProbabilities ?? false, this.refused),
        signal: AbortSignal.any([signal, timeout]),
        // No cookies, no address of this page, no way to be led elsewhere with the key.
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        redirect: 'error',
        cache: 'no-store',
      });
      text = await readLimited(response, largestAnswerBytes);
    } catch {
      // The cause is dropped on purpose: a library may quote the request, and the key with it.
      signal.throwIfAborted();
      if (timeout.aborted) return failed(errors.timedOut(this.address.display, timeoutMs), 1);
      // A server that never answered is most likely not there: say so soon.
      return failed(errors.unreachable(this.address.display, this.address.secure), this.hasAnswered ? 99 : 1);
    }
    return this.judge(response, text, request);
  }

  private judge(response: Response, text: string | null, request: TextRequest): Outcome {
    const { display } = this.address;
    const body = text === null ? undefined : parseJson(text);
    const error = readError(body);
    const status = response.ok && error?.status ? error.status : response.status;
    if (status >= 200 && status < 300) {
      if (text === null) return failed(errors.badAnswer(display, 'too long'), 1);
      const completion = error && !hasChoices(body) ? 'an error' : readCompletion(body, request);
      if (typeof completion === 'string') return failed(errors.badAnswer(display, completion), 1);
      this.hasAnswered = true;
      if (!completion.tokens) this.returnsLogProbabilities = false;
      return { kind: 'done', completion };
    }
    this.hasAnswered = true;
    return this.judgeStatus(status, error ?? noError, retryAfterMs(response.headers, Date.now()));
  }

  private judgeStatus(status: number, error: ServerError, pauseMs: number | null): Outcome {
    const { display } = this.address;
    if (error.code === 'insufficient_quota' || status === 402) return failed(errors.noQuota(display), 0);
    if (status === 401 || status === 403) return failed(errors.refused(display, status), 0);
    if (status === 404 || error.code === 'model_not_found')
      return failed(errors.modelMissing(display, this.options.model), 0);
    if (status === 429) return { ...failed(errors.rateLimited(display, pauseMs), 99), pauseMs };
    if (status === 408 || status === 425 || status >= 500)
      return { ...failed(errors.failing(display, status), 99), pauseMs };
    // A question that does not fit is that question's failure, not the endpoint's.
    if (isContextOverflow(error)) return { kind: 'done', completion: { text: '', finishReason: 'length' } };
    const parameter = unsupportedParameter(error);
    if (parameter && !this.refused.has(parameter)) {
      this.refused.add(parameter);
      if (parameter === 'logprobs') this.returnsLogProbabilities = false;
      return { kind: 'again' };
    }
    return failed(errors.rejected(display, status, errors.quoteServer(error.message, this.#key)), 0);
  }
}

const noError: ServerError = { message: '', code: '', parameter: '', status: null };

const failed = (error: DreamError, retries: number) => ({ kind: 'failed', error, retries, pauseMs: null }) as const;

const hasChoices = (body: unknown) => typeof body === 'object' && body !== null && 'choices' in body;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Takes the key out of the options first, so that no object that is kept holds it. */
export function endpointTextModel({ key, ...options }: EndpointOptions): EndpointTextModel {
  return new EndpointTextModel(options, key);
}
