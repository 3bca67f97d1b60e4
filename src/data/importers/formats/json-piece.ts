/** @file A piece as JSON or text, or the reason why it is neither. */
import type { JsonObject } from '../../json-object';
import { jsonExcess } from '../containers/json-entries';
import type { Dropped, Piece } from '../pieces';
import { parsePlainJson } from '../plain-json';

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Own property only: names such as `toString` must not reach the prototype. */
export const field = (fields: JsonObject, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The value; undefined for an empty line and for what is no JSON, which is yielded as dropped. */
export function* jsonIn(piece: Piece): Generator<Dropped, unknown> {
  const json = jsonOf(piece);
  if (json === null) return undefined;
  if ('value' in json) return json.value;
  yield json;
  return undefined;
}

function jsonOf({ where, bytes }: Piece): { value: unknown } | Dropped | null {
  if (bytes.byteLength === 0 || (bytes.byteLength < 3 && new TextDecoder().decode(bytes).trim() === '')) return null;
  const excess = jsonExcess(bytes);
  if (excess) return { where, why: excess };
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { where, why: 'its text is not UTF-8' };
  }
  if (text.trim() === '') return null;
  try {
    return { value: parsePlainJson(text) };
  } catch (error) {
    // The parser's own words quote the file; one line of them is enough.
    const what = error instanceof SyntaxError ? 'it is not JSON' : (error as Error).message;
    return { where, why: what.slice(0, 120) };
  }
}

/** The line without its ending. */
export function lineOf({ where, bytes }: Piece): string | Dropped {
  try {
    return utf8.decode(bytes).replace(/\r$/, '');
  } catch {
    return { where, why: 'its text is not UTF-8' };
  }
}
