/** @file The names of models on the hub, good and bad. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DreamError } from '../../../src/data/errors';
import { keyOf, keyParts } from '../../../src/models/sources/file-cache';
import { fileAddress, formatHubId, parseHubId } from '../../../src/models/sources/hub-id';

describe('parseHubId', () => {
  test('owner, name, revision, version', () => {
    expect(parseHubId(' owner/name ')).toEqual({ owner: 'owner', name: 'name', revision: 'main', version: null });
    expect(parseHubId('HuggingFaceTB/SmolLM2-135M-Instruct@12fd25f')).toMatchObject({ revision: '12fd25f' });
    expect(parseHubId('a/b.c@refs/pr/1:Q4_K_M')).toMatchObject({ revision: 'refs/pr/1', version: 'Q4_K_M' });
    expect(parseHubId('a/b:onnx/model_q4.onnx')).toMatchObject({ name: 'b', version: 'onnx/model_q4.onnx' });
  });

  test('comes back from its text', () => {
    for (const text of ['a/b@main', 'a/b@v1.0:q4', 'x_y/z-1@refs/pr/2:onnx/m.onnx'])
      expect(formatHubId(parseHubId(text))).toBe(text);
  });

  test.each([
    '',
    'gpt2',
    'a/b/c',
    '/b',
    'a/',
    'a/..',
    '../b',
    'a/b--c',
    'a/b.git',
    'a/b@',
    'a/b@../x',
    'a/b@x..y',
    'a/b@x/',
    'a/b:',
    'a/b:../x',
    'a/b:x/../y',
    'a b/c',
    'https://example.org/a/b',
    'a/b?c',
    'ä/b',
    `a/${'b'.repeat(97)}`,
  ])('refuses %j', (text) => {
    expect(() => parseHubId(text)).toThrow(expect.objectContaining({ code: 'bad-model-id' }));
  });

  test('any text: an id that stays an id, or the typed error', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (a, b, c) => {
        try {
          const id = parseHubId(`${a}/${b}@${c}`);
          expect(parseHubId(formatHubId(id))).toEqual(id);
          expect(new URL(fileAddress('https://hub.test', `${id.owner}/${id.name}`, id.revision, 'x')).host).toBe(
            'hub.test',
          );
        } catch (error) {
          expect(error).toBeInstanceOf(DreamError);
        }
      }),
    );
  });
});

test('an address keeps the path and hides the rest', () => {
  expect(fileAddress('https://hub.test', 'a/b', 'refs/pr/1', 'onnx/x #?.onnx')).toBe(
    'https://hub.test/a/b/resolve/refs%2Fpr%2F1/onnx/x%20%23%3F.onnx',
  );
});

test('a key’s parts are plain names, and give the key back', () => {
  expect(keyParts('a/../b')).toEqual(['a', '%2E%2E', 'b']);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (key) => {
      const parts = keyParts(key);
      for (const part of parts) expect(part).not.toMatch(/[/\\:]|^\.+$/);
      expect(keyOf(parts)).toBe(key);
    }),
  );
});
