/** @file The body of a request, up to a limit. */
import type { IncomingMessage } from 'node:http';

/** null: more than `limit` bytes. */
export async function readBody(stream: IncomingMessage, limit: number): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stream as AsyncIterable<Buffer>) {
    bytes += part.byteLength;
    if (bytes > limit) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
