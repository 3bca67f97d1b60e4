/** @file A small server for download tests: ranges, ETags, the hub's two API calls, and faults on demand. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Served {
  bytes: Uint8Array;
  etag?: string;
}

/** What happens to the next answers with a file's bytes, one entry each; then all goes well. */
export interface Faults {
  /** Cut the connection after so many bytes of the body. */
  dropAfter?: number;
  status?: number;
  headers?: Record<string, string>;
  /** Send these bytes instead of the file's. */
  instead?: Uint8Array;
  etag?: string;
  ignoreRange?: boolean;
  /** Never answer. */
  silent?: boolean;
  /** Never send the rest after so many bytes. */
  hangAfter?: number;
}

export const commit = 'a'.repeat(40);

export class RangeServer {
  readonly files = new Map<string, Served>();
  readonly faults: Faults[] = [];
  /** `path range` of every file request. */
  readonly requests: string[] = [];
  readonly authorizations: (string | undefined)[] = [];
  /** Answers to API calls instead of the tree, one entry each. */
  readonly apiFaults: { status: number; body?: string; headers?: Record<string, string> }[] = [];
  /** Entries per page of the tree. */
  pageSize = 1000;
  /** A hash in the tree that the file does not have. */
  readonly lies = new Map<string, string>();
  private server: Server | null = null;

  async start(): Promise<string> {
    this.server = createServer((request, response) => this.answer(request, response));
    await new Promise<void>((resolve) => this.server?.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }

  reset(): void {
    this.files.clear();
    this.faults.length = 0;
    this.apiFaults.length = 0;
    this.requests.length = 0;
    this.authorizations.length = 0;
    this.lies.clear();
    this.pageSize = 1000;
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'http://localhost');
    this.authorizations.push(request.headers.authorization);
    if (url.pathname.startsWith('/api/')) this.api(url, response);
    else this.file(decodeURIComponent(url.pathname).split(`/${commit}/`).pop() as string, request, response);
  }

  private api(url: URL, response: ServerResponse): void {
    const fault = this.apiFaults.shift();
    if (fault) {
      response.writeHead(fault.status, fault.headers).end(fault.body ?? '');
    } else if (url.pathname.includes('/revision/')) {
      response.end(JSON.stringify({ id: 'owner/name', sha: commit }));
    } else {
      const page = Number(url.searchParams.get('cursor') ?? 0);
      const entries = [...this.files].map(([path, { bytes }]) => {
        const large = !path.endsWith('.json');
        const blob = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
        const sha256 = this.lies.get(path) ?? createHash('sha256').update(bytes).digest('hex');
        const base = { type: 'file', path, size: bytes.length };
        return large
          ? { ...base, oid: '0'.repeat(40), lfs: { oid: sha256, size: bytes.length, pointerSize: 130 } }
          : { ...base, oid: this.lies.get(path) ?? blob };
      });
      const shown = entries.slice(page * this.pageSize, (page + 1) * this.pageSize);
      if ((page + 1) * this.pageSize < entries.length)
        response.setHeader('Link', `<${url.pathname}?recursive=true&cursor=${page + 1}>; rel="next"`);
      response.end(JSON.stringify([{ type: 'directory', path: 'onnx', size: 0, oid: '' }, ...shown]));
    }
  }

  private file(path: string, request: IncomingMessage, response: ServerResponse): void {
    this.requests.push(`${path} ${request.headers.range ?? 'whole'}`);
    const served = this.files.get(path);
    const fault = this.faults.shift() ?? {};
    if (fault.silent) return;
    if (fault.status) return void response.writeHead(fault.status, fault.headers).end();
    if (!served) return void response.writeHead(404).end();
    const bytes = fault.instead ?? served.bytes;
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    const first = range && !fault.ignoreRange ? Number(range[1]) : 0;
    const end = range?.[2] && !fault.ignoreRange ? Math.min(Number(range[2]) + 1, bytes.length) : bytes.length;
    response.statusCode = range && !fault.ignoreRange ? 206 : 200;
    response.setHeader('ETag', fault.etag ?? served.etag ?? '"one"');
    response.setHeader('Content-Length', end - first);
    if (response.statusCode === 206) response.setHeader('Content-Range', `bytes ${first}-${end - 1}/${bytes.length}`);
    const body = bytes.subarray(first, end);
    if (fault.dropAfter !== undefined) {
      response.write(body.subarray(0, fault.dropAfter), () => setTimeout(() => response.destroy(), 20));
    } else if (fault.hangAfter !== undefined) {
      response.write(body.subarray(0, fault.hangAfter));
    } else {
      response.end(body);
    }
  }
}

/** Bytes that are not the same anywhere. */
export function noise(length: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}
