/**
 * @file A file on a server, read by Range requests without storing it: enough to look at a header before a download.
 *
 * A dropped connection is tried again. A file that changes under us is an error, not a mixture of both.
 */
import { DreamError } from '../../data/errors';
import type { ByteSource } from '../weights';
import { delayMs, patient, type RetryOptions, wait } from './back-off';
import { checkRange } from './byte-range';
import { type Access, type Answer, requestRange, Transient } from './http';
import { fileRead, stopped, unreachable } from './source-errors';

export interface HttpOptions extends Access {
  retry?: RetryOptions;
  /** For messages and for telling files apart; default: the last part of the address. */
  name?: string;
}

export class HttpSource implements ByteSource {
  private constructor(
    private readonly url: string,
    readonly name: string,
    readonly size: number,
    private readonly etag: string | null,
    private readonly options: HttpOptions,
  ) {}

  /** Throws `network`, `no-range`, `model-not-found`, `model-gated`, `hub-refused`, `download-stopped`. */
  static async open(url: string, options: HttpOptions = {}): Promise<HttpSource> {
    const name = options.name ?? decodeURIComponent(new URL(url).pathname.split('/').pop() || url);
    const { size, etag } = await persist(url, options, async () => {
      const answer = await requestRange(url, 0, 1, options, (options.retry ?? patient).stallMs);
      answer.abort();
      if (answer.response.status !== 206 || answer.size === null) throw noRange(url);
      return answer;
    });
    return new HttpSource(url, name, size as number, etag, options);
  }

  async read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    checkRange(this, offset, length);
    if (length === 0) return new Uint8Array(0);
    const bytes = new Uint8Array(length);
    let filled = 0;
    const retry = this.options.retry ?? patient;
    await persist(this.url, this.options, async () => {
      const answer = await requestRange(this.url, offset + filled, offset + length, this.options, retry.stallMs);
      if (answer.response.status !== 206) {
        answer.abort();
        throw noRange(this.url);
      }
      if (answer.etag !== this.etag || (answer.size !== null && answer.size !== this.size)) {
        answer.abort();
        throw fileRead(this.name, 'it changed on the server while it was read');
      }
      await eachChunk(answer, retry, this.options.signal, (chunk) => {
        if (filled + chunk.length > length) throw fileRead(this.name, 'the server sent more than asked for');
        bytes.set(chunk, filled);
        filled += chunk.length;
      });
      if (filled < length) throw new Transient('the connection ended early');
    });
    return bytes;
  }
}

function noRange(url: string): DreamError {
  return new DreamError(
    'no-range',
    `${new URL(url).host} does not give parts of a file.`,
    'Download the file and open it from this machine.',
  );
}

/** Tries again after Transient failures. Throws `network` when it has been patient enough. */
async function persist<T>(url: string, options: HttpOptions, attempt: () => Promise<T>): Promise<T> {
  const retry = options.retry ?? patient;
  for (let failures = 1; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Transient)) throw error;
      if (failures >= retry.attempts) throw unreachable(url, error);
      await wait(delayMs(failures, retry, error.retryAfter), options.signal);
    }
  }
}

/**
 * Hands over the body as it comes. A drop or a stall is Transient, an abort `download-stopped`; what the receiver throws
 * passes through.
 */
export async function eachChunk(
  answer: Answer,
  retry: RetryOptions,
  signal: AbortSignal | undefined,
  receive: (chunk: Uint8Array<ArrayBuffer>) => void | Promise<void>,
): Promise<void> {
  const reader = answer.response.body?.getReader();
  if (!reader) return;
  // One promise per piece: racing a long-lived one would keep every piece that ever won.
  let giveUp: (reason: Error) => void = () => undefined;
  const abort = (): void => giveUp(stopped());
  signal?.addEventListener('abort', abort, { once: true });
  try {
    for (;;) {
      const timer = setTimeout(() => giveUp(new Error('nothing arrived for a while')), retry.stallMs);
      let next: ReadableStreamReadResult<Uint8Array<ArrayBuffer>>;
      try {
        next = await new Promise((resolve, reject) => {
          giveUp = reject;
          reader.read().then(resolve, reject);
        });
      } catch (cause) {
        if (signal?.aborted) throw stopped();
        throw new Transient(cause instanceof Error ? cause.message : String(cause), null, { cause });
      } finally {
        clearTimeout(timer);
      }
      if (signal?.aborted) throw stopped();
      if (next.done) return;
      await receive(next.value);
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    // Also ends the request when the receiver had enough.
    answer.abort();
    reader.cancel().catch(() => undefined);
  }
}
