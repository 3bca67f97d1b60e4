/**
 * @file The members of a JSON file, one by one: an array's items or an object's values, with flat memory.
 *
 * The real items_shuffle.json has 5 GB. Only one member is in memory at a time, and none may be larger than a limit.
 */
import { JSONParser } from '@streamparser/json';
import { DreamError } from '../../../data/errors';

/** Whole text, or its pieces as they arrive (a file's stream, for example). */
export type JsonSource = string | Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

export interface StreamLimits {
  /** Characters or bytes that may pass without a member being complete. */
  memberBytes: number;
  signal?: AbortSignal;
  /** Characters or bytes read so far. */
  onProgress?: (read: number) => void;
}

/** Strings are handed to the parser in pieces of this length, so that the limit and a cancellation can act in between. */
const PIECE = 65_536;

/**
 * Calls `onMember(key, value)` for each; stops early when it returns false. `key` is the member's name, or its position.
 * @throws DreamError `shop-file-unreadable`, `shop-file-too-large`, `cancelled`.
 */
export async function eachMember(
  what: string,
  source: JsonSource,
  limits: StreamLimits,
  onMember: (key: string, value: unknown) => boolean,
): Promise<void> {
  const parser = new JSONParser({ paths: ['$.*'], keepStack: false });
  let read = 0;
  let lastMember = 0;
  let members = 0;
  let stopped = false;
  parser.onValue = ({ key, value }) => {
    lastMember = read;
    members++;
    if (!stopped && !onMember(String(key), value)) stopped = true;
  };
  const unreadable = (cause: unknown) =>
    new DreamError(
      'shop-file-unreadable',
      `The ${what} file is not JSON as WebShop writes it (near character ${read}).`,
      'Choose the original file, complete and unpacked; a JSON Lines or CSV file is something else.',
      { cause },
    );
  for await (const chunk of pieces(source)) {
    if (limits.signal?.aborted) {
      throw new DreamError('cancelled', `Reading the ${what} file was cancelled.`, 'Nothing was changed.');
    }
    read += chunk.length;
    if (read - lastMember > limits.memberBytes + chunk.length) {
      throw new DreamError(
        'shop-file-too-large',
        `An entry of the ${what} file is larger than ${limits.memberBytes} bytes.`,
        'Check that this is the file it should be; no product description is that long.',
      );
    }
    try {
      parser.write(chunk);
    } catch (cause) {
      throw unreadable(cause);
    }
    limits.onProgress?.(read);
    if (stopped) return;
  }
  if (!parser.isEnded || (members === 0 && read < 2)) throw unreadable(undefined);
}

async function* pieces(source: JsonSource): AsyncGenerator<string | Uint8Array> {
  if (typeof source === 'string') {
    for (let i = 0; i < source.length; i += PIECE) yield source.slice(i, i + PIECE);
    return;
  }
  for await (const piece of source) {
    for (let i = 0; i < piece.length; i += PIECE) {
      yield typeof piece === 'string' ? piece.slice(i, i + PIECE) : piece.subarray(i, i + PIECE);
    }
  }
}
