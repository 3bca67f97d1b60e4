/** @file A server's JSON as plain values: parsed with care, read field by field, shown as bounded text. */
import { parsePlainJson } from '../../data/importers/plain-json';

/** Throws Error (any message): not JSON, too deep, prototype keys. */
export const parseJson = (text: string): unknown => parsePlainJson(text);

/** Longer observations are cut: no policy reads them whole, and no server may fill the memory. */
export const maxObservationLetters = 50_000;

/** Text of any value, without control characters that would garble a terminal, cut to a bound. */
export function plainText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text
    .slice(0, maxObservationLetters)
    .replace(/\r\n?/g, '\n')
    .replace(/[\p{Cc}\p{Cs}]/gu, (letter) => (letter === '\n' || letter === '\t' ? letter : ''));
}

/** Servers say true, 1, 0.5 or null. What is no number earns nothing. */
export function plainReward(value: unknown): number {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
