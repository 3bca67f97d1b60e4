import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonEntries } from '../../../src/data/importers/containers/json-entries';
import { LineSplitter } from '../../../src/data/importers/containers/lines';
import { parsePartialJson } from '../../../src/data/importers/partial-json';
import type { Splitter } from '../../../src/data/importers/pieces';

/** Everything a splitter yields for a text that comes in chunks of `size` bytes, parsed at once as its contract asks. */
function parts(splitter: Splitter, text: string, size: number) {
  const bytes = new TextEncoder().encode(text);
  const found: { path: readonly string[]; value: unknown }[] = [];
  const take = (pieces: ReturnType<Splitter['push']>) => {
    for (const piece of pieces) {
      if ('why' in piece) throw new Error(`${piece.where}: ${piece.why}`);
      found.push({ path: piece.path, value: JSON.parse(new TextDecoder().decode(piece.bytes)) });
    }
  };
  for (let at = 0; at < bytes.length; at += size) take(splitter.push(bytes.slice(at, at + size)));
  take(splitter.end());
  return found;
}

/** Values at `depth`, and those above it that are no containers. */
function entriesAt(value: unknown, depth: number, path: string[] = []): { path: string[]; value: unknown }[] {
  if (depth === 0 || typeof value !== 'object' || value === null) return [{ path, value }];
  return Object.entries(value).flatMap(([key, item]) => entriesAt(item, depth - 1, [...path, key]));
}

const json = fc.jsonValue({ maxDepth: 4 });
const size = fc.integer({ min: 1, max: 40 });

test('any document, any depth, any chunks: the same entries as JSON.parse finds', () => {
  fc.assert(
    fc.property(json, fc.integer({ min: 0, max: 3 }), size, fc.constantFrom(0, 2), (value, depth, chunk, indent) => {
      const text = JSON.stringify(value, null, indent);
      const wanted = entriesAt(JSON.parse(text), depth);
      expect(parts(new JsonEntries(depth), text, chunk).map((part) => part.value)).toEqual(
        wanted.map((part) => part.value),
      );
    }),
    { numRuns: 300 },
  );
});

test('keys and places are the document’s', () => {
  const found = parts(new JsonEntries(2), '{"a\\"b": [1, {"c": 2}], "d": "e", "f": {}}', 3);
  expect(found).toEqual([
    { path: ['a"b', '0'], value: 1 },
    { path: ['a"b', '1'], value: { c: 2 } },
    { path: ['d'], value: 'e' },
  ]);
});

test('lines in any chunks', () => {
  fc.assert(
    fc.property(fc.array(json, { maxLength: 8 }), size, fc.boolean(), (values, chunk, last) => {
      const text = values.map((value) => `${JSON.stringify(value)}\n`).join('');
      const wanted = values.map((value) => JSON.parse(JSON.stringify(value)));
      expect(parts(new LineSplitter(), last ? text : text.trimEnd(), chunk).map((part) => part.value)).toEqual(wanted);
    }),
    { numRuns: 200 },
  );
});

test('the beginning of any document is a value, and never throws', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), json, { minKeys: 1 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (value, part) => {
        const text = JSON.stringify(value);
        const cut = text.slice(0, 1 + Math.floor(part * (text.length - 1)));
        expect(parsePartialJson(cut)).toBeTypeOf('object');
        expect(parsePartialJson(text)).toEqual(JSON.parse(text));
      },
    ),
    { numRuns: 300 },
  );
});

test('rubbish bytes end, whatever they are', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 0, max: 2 }), size, (bytes, depth, chunk) => {
      const splitter = new JsonEntries(depth);
      let pieces = 0;
      for (let at = 0; at < bytes.length; at += chunk)
        for (const _ of splitter.push(bytes.slice(at, at + chunk))) pieces++;
      for (const _ of splitter.end()) pieces++;
      expect(pieces).toBeLessThanOrEqual(bytes.length + 1);
    }),
    { numRuns: 500 },
  );
});
