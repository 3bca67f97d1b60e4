/**
 * @file JSON over HTTP from a server that may hang, flood, redirect or talk nonsense: one deadline, one cap, no redirects.
 *
 * A browser hides why a request failed. One more request in `no-cors` mode tells the two likely reasons apart: it succeeds
 * (unreadably) when the server runs but sends no CORS headers.
 */
import type { DreamError } from '../../data/errors';
import { isJsonObject } from '../../data/json-object';
import type { RemoteAddress } from './address';
import * as errors from './errors';
import { readLimited } from './limited-text';
import { parseJson } from './plain-values';

export interface HttpOptions {
  /** Default: the global one. */
  fetch?: typeof globalThis.fetch;
  /** For a whole answer. Default 60,000. */
  timeoutMs?: number;
  /** Default 4 MiB. */
  maxAnswerBytes?: number;
}

export interface HttpRequest {
  method: 'GET' | 'POST';
  /** Begins with a slash. */
  path: string;
  query?: Readonly<Record<string, string | number>>;
  /** JSON; absent = an empty body. */
  body?: unknown;
}

export interface HttpAnswer {
  status: number;
  /** Parsed, or undefined for an answer that is not JSON (an error page, for instance). */
  json: unknown;
  text: string;
}

const defaultMaxBytes = 4 * 2 ** 20;

/** Any status is an answer. Throws `remote-unreachable`, `remote-no-cors`, `remote-timeout`, `remote-too-large`, `remote-redirected`. */
export async function askHttp(
  address: RemoteAddress,
  { method, path, query = {}, body }: HttpRequest,
  { fetch: given, timeoutMs = 60_000, maxAnswerBytes = defaultMaxBytes }: HttpOptions,
): Promise<HttpAnswer> {
  const send = given ?? globalThis.fetch;
  const parameters = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)])).toString();
  const url = `${address.http}${path}${parameters === '' ? '' : `?${parameters}`}`;
  const timeout = AbortSignal.timeout(timeoutMs);
  let response: Response;
  try {
    response = await send(url, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      redirect: 'manual',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      cache: 'no-store',
      signal: timeout,
    });
  } catch (cause) {
    if (timeout.aborted) throw errors.timedOut(address.display, timeoutMs);
    throw await whyUnreachable(address, send, cause);
  }
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    void response.body?.cancel().catch(() => undefined);
    throw errors.redirected(address.display);
  }
  let text: string | null;
  try {
    text = await readLimited(response, maxAnswerBytes);
  } catch (cause) {
    if (timeout.aborted) throw errors.timedOut(address.display, timeoutMs);
    throw errors.disconnected(address.display, cause instanceof Error ? cause.message : '');
  }
  if (text === null) throw errors.tooLarge(address.display, maxAnswerBytes);
  let json: unknown;
  try {
    json = parseJson(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, json, text };
}

async function whyUnreachable(
  address: RemoteAddress,
  send: typeof globalThis.fetch,
  cause: unknown,
): Promise<DreamError> {
  try {
    const probe = await send(`${address.http}/`, {
      mode: 'no-cors',
      credentials: 'omit',
      cache: 'no-store',
      signal: AbortSignal.timeout(3000),
    });
    void probe.body?.cancel().catch(() => undefined);
    // A browser shows nothing of such an answer; only where it does not, CORS was what stood in the way.
    if (probe.type === 'opaque') return errors.noCors(address.display);
  } catch {
    // Nobody there, or nobody that may be asked.
  }
  return errors.unreachable(address.display, cause);
}

/**
 * The JSON of a good answer. AgentGym hides errors inside 200, FastAPI explains a 422 in `detail`.
 * Throws `remote-validation`, `remote-server-error`, `remote-garbage`.
 */
export function goodJson(server: string, { status, json, text }: HttpAnswer): unknown {
  if (isJsonObject(json) && 'error' in json && json.error !== null && json.error !== undefined && json.error !== '')
    throw errors.serverFailed(
      server,
      String(status),
      typeof json.error === 'string' ? json.error : JSON.stringify(json.error),
    );
  if (status === 422) {
    const detail = isJsonObject(json) ? json.detail : null;
    throw new errors.ValidationError(server, typeof detail === 'string' ? detail : 'the request is not valid', detail);
  }
  if (status >= 400) throw errors.serverFailed(server, String(status), text);
  if (json === undefined) throw errors.garbage(server, `its answer is not plain JSON: ${text.slice(0, 100)}`);
  return json;
}
