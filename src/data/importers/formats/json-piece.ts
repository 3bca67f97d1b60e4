/** @file A piece as JSON or text, or the reason why it is neither. */
import { jsonExcess } from '../containers/json-entries';
import type { Dropped, Piece } from '../pieces';
import { parsePlainJson } from '../plain-json';

export type Fields = Record<string, unknown>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Own property only: names such as `toString` must not reach the prototype. */
export const field = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** null for an empty line. */
export function jsonOf({ where, bytes }: Piece): { value: unknown } | Dropped | null {
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
