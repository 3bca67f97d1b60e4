/**
 * @file Where the library finds a model's files: a folder in memory, a folder of this site, or the hub.
 *
 * For folders and sites the library believes that it reads below `localRoot`; nothing it asks for can reach another place.
 * It is given no progress callback: with one it fetches every local file twice to learn its size. Bytes are counted here.
 */
import type { ModelSource } from '../dream/text-models/transformers/protocol';

export const localRoot = '/model-files/';
/** The name under which the library knows a local model. */
export const localName = 'local/model';

export type CountBytes = (file: string, loadedBytes: number, totalBytes: number) => void;

/** The path inside the model's folder, or null for an address outside of it. */
export function localFile(address: string): string | null {
  const prefix = `${localRoot}${localName}/`;
  const path = address.startsWith(prefix) ? address.slice(prefix.length) : null;
  return path === null || path.split('/').includes('..') ? null : path;
}

const missing = () => new Response(null, { status: 404 });

/** What stands behind the library's `fetch` for one source. Missing optional files are a plain 404. */
export function fetchFor(source: ModelSource, count: CountBytes, fetchFile: typeof fetch = fetch) {
  return async (address: string | URL, init?: RequestInit): Promise<Response> => {
    if (source.kind === 'hub') return counted(await fetchFile(address, init), String(address), count);
    const file = localFile(String(address));
    if (file === null) return missing();
    if (source.kind === 'folder') return fileOf(source, file, count) ?? missing();
    const response = await fetchFile(`${source.url.replace(/\/+$/, '')}/${file}`);
    // A site that answers every address with its page has no such file either.
    const isPage = response.headers.get('content-type')?.includes('text/html');
    return response.ok && !isPage ? counted(response, file, count) : missing();
  };
}

function fileOf({ files }: Extract<ModelSource, { kind: 'folder' }>, file: string, count: CountBytes): Response | null {
  const blob = files.get(file);
  if (!blob) return null;
  count(file, 0, blob.size);
  return new Response(blob, { headers: { 'content-length': String(blob.size) } });
}

/** The same response; its bytes are counted as they are read. */
function counted(response: Response, file: string, count: CountBytes): Response {
  if (!response.ok || !response.body) return response;
  const total = Number(response.headers.get('content-length') ?? 0);
  let loaded = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      loaded += chunk.byteLength;
      count(file, loaded, Math.max(total, loaded));
      controller.enqueue(chunk);
    },
  });
  const { status, headers } = response;
  return new Response(response.body.pipeThrough(counter), { status, headers });
}
