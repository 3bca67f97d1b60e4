/**
 * @file One request for a file's bytes from some offset on, and what its answer means.
 *
 * Only headers that need no CORS preflight are sent: a redirect to a storage host would often refuse one. That rules out
 * If-Range, so its promise is kept here: an answer with another ETag than before is not continued, it starts the file anew.
 */
import { DreamError } from '../../data/errors';
import { leash } from './back-off';
import { refused, stopped } from './source-errors';

export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

export interface Access {
  fetch?: Fetch;
  /** For models that ask for one. Sent to the hub only: fetch drops it where it is redirected to another host. */
  token?: string;
  signal?: AbortSignal;
}

export interface Answer {
  response: Response;
  /** Where the body begins in the file: the offset asked for, or 0 when the server does not know ranges. */
  start: number;
  /** Size of the whole file where the server says it. */
  size: number | null;
  etag: string | null;
  /** Ends this request, finished or not; must be called. */
  abort(): void;
}

/** Failures that another attempt may mend. */
export class Transient extends Error {
  constructor(
    message: string,
    readonly retryAfter: string | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function headers(access: Access): Record<string, string> {
  return access.token ? { Authorization: `Bearer ${access.token}` } : {};
}

/**
 * Bytes [start, end) of a file, or to its end. No answer within `stallMs` is Transient.
 * Throws Transient, or DreamError `download-stopped`, `model-gated`, `model-not-found`, `hub-refused`.
 */
export async function requestRange(
  url: string,
  start: number,
  end: number | null,
  access: Access,
  stallMs: number,
): Promise<Answer> {
  if (access.signal?.aborted) throw stopped();
  const request = leash(access.signal);
  const abort = (): void => {
    request.abort();
    request.release();
  };
  const range = `bytes=${start}-${end === null ? '' : end - 1}`;
  let response: Response;
  const stalled = setTimeout(() => request.abort(new Error('no answer for a while')), stallMs);
  try {
    const send: Fetch = access.fetch ?? fetch;
    response = await send(url, { headers: { ...headers(access), Range: range }, signal: request.signal });
  } catch (cause) {
    request.release();
    if (access.signal?.aborted) throw stopped();
    throw new Transient(cause instanceof Error ? cause.message : String(cause), null, { cause });
  } finally {
    clearTimeout(stalled);
  }
  const etag = response.headers.get('etag');
  if (response.status === 206) {
    const said = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(response.headers.get('content-range') ?? '');
    // Where the header is hidden from us (CORS), the server is believed to have done what it was asked for.
    const from = said ? Number(said[1]) : start;
    if (from !== start) {
      abort();
      throw new DreamError('hub-refused', `The server sent other bytes of ${url} than asked for.`, 'Try again later.');
    }
    return { response, start, size: said && said[3] !== '*' ? Number(said[3]) : null, etag, abort };
  }
  if (response.status === 200) {
    // A compressed answer's length is not the file's.
    const length = response.headers.get('content-encoding') ? null : response.headers.get('content-length');
    return { response, start: 0, size: length === null ? null : Number(length), etag, abort };
  }
  abort();
  if (response.status === 429 || response.status === 408 || response.status >= 500)
    throw new Transient(`the server answers ${response.status}`, response.headers.get('retry-after'));
  throw refused(new URL(url).pathname, response.status, response.headers.get('x-error-message') ?? '');
}
