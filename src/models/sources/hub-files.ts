/**
 * @file What a repository of the hub holds at one commit: paths, sizes, and the hash of every file.
 *
 * The tree API says the hash of large files (sha256 of the LFS object) and of small ones (git's sha1 of the blob). A
 * download's own headers say it too (X-Linked-Etag), but on a redirect, which a page cannot see.
 */
import { DreamError } from '../../data/errors';
import { delayMs, leash, patient, type RetryOptions, wait } from './back-off';
import { type Access, type Fetch, headers } from './http';
import { HUB_HOST, type HubId } from './hub-id';
import { refused, stopped, unreachable } from './source-errors';

export interface FileHash {
  algorithm: 'sha256' | 'git-sha1';
  hex: string;
}

export interface HubFile {
  path: string;
  size: number;
  hash: FileHash;
}

export interface HubOptions extends Access {
  /** Default: the public hub. */
  host?: string;
  retry?: RetryOptions;
}

export interface HubTree {
  repository: string;
  /** What the revision means now; every address of this download uses it. */
  commit: string;
  files: HubFile[];
}

/** A repository of a thousand files has one page. */
const MAX_PAGES = 20;

/** Throws `network`, `model-not-found`, `model-gated`, `hub-refused`, `download-stopped`. */
export async function listHubFiles(id: HubId, options: HubOptions = {}): Promise<HubTree> {
  const host = options.host ?? HUB_HOST;
  const repository = `${id.owner}/${id.name}`;
  const what = `${repository}@${id.revision}`;
  const api = `${host}/api/models/${repository}`;
  const about = await askJson(`${api}/revision/${encodeURIComponent(id.revision)}`, what, options);
  const commit = (about.body as { sha?: unknown } | null)?.sha;
  if (typeof commit !== 'string' || !/^[0-9a-f]{40,64}$/.test(commit)) throw strange(what);
  const files: HubFile[] = [];
  let url: string | null = `${api}/tree/${commit}?recursive=true`;
  for (let page = 0; url !== null && page < MAX_PAGES; page++) {
    const { body, next } = await askJson(url, what, options);
    if (!Array.isArray(body)) throw strange(what);
    for (const entry of body) {
      const file = readEntry(entry);
      if (file) files.push(file);
    }
    // Only ever from the same host: a token goes along.
    url = next !== null && new URL(next, url).origin === new URL(host).origin ? new URL(next, url).href : null;
  }
  return { repository, commit, files };
}

function readEntry(entry: unknown): HubFile | null {
  const { type, path, size, oid, lfs } = (entry ?? {}) as Record<string, unknown>;
  if (type !== 'file' || typeof path !== 'string') return null;
  const large = (lfs ?? null) as { oid?: unknown; size?: unknown } | null;
  const bytes = large?.size ?? size;
  // An entry without size or hash cannot be checked and counts as absent.
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0) return null;
  const hex = String(large ? large.oid : oid).replace(/^sha256:/, '');
  if (!(large ? /^[0-9a-f]{64}$/ : /^[0-9a-f]{40}$/).test(hex)) return null;
  return { path, size: bytes, hash: { algorithm: large ? 'sha256' : 'git-sha1', hex } };
}

function strange(what: string): DreamError {
  return new DreamError(
    'hub-refused',
    `The server's answer about ${what} makes no sense.`,
    'Check the host; a sign-in page of the network may have answered instead.',
  );
}

async function askJson(
  url: string,
  what: string,
  options: HubOptions,
): Promise<{ body: unknown; next: string | null }> {
  const retry = options.retry ?? patient;
  const send: Fetch = options.fetch ?? fetch;
  for (let failures = 1; ; failures++) {
    if (options.signal?.aborted) throw stopped();
    let problem: unknown;
    let retryAfter: string | null = null;
    const request = leash(options.signal);
    const stalled = setTimeout(() => request.abort(new Error('no answer for a while')), retry.stallMs);
    try {
      const response = await send(url, { headers: headers(options), signal: request.signal });
      if (response.ok) {
        const text = await response.text();
        const link = /<([^>]+)>;\s*rel="next"/.exec(response.headers.get('link') ?? '');
        try {
          return { body: JSON.parse(text), next: link?.[1] ?? null };
        } catch {
          throw strange(what);
        }
      }
      const passing = response.status === 429 || response.status === 408 || response.status >= 500;
      if (!passing) throw refused(what, response.status, response.headers.get('x-error-message') ?? '');
      problem = new Error(`it answers ${response.status}`);
      retryAfter = response.headers.get('retry-after');
    } catch (error) {
      if (error instanceof DreamError) throw error;
      if (options.signal?.aborted) throw stopped();
      problem = error;
    } finally {
      clearTimeout(stalled);
      request.release();
    }
    if (failures >= retry.attempts) throw unreachable(url, problem);
    await wait(delayMs(failures, retry, retryAfter), options.signal);
  }
}
