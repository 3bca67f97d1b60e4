import fc from 'fast-check';
import { expect, test } from 'vitest';
import { presets } from '../../src/dream/presets';
import { fields } from '../../src/ui/settings/fields';
import { changedKeys, formatLink, parseLink } from '../../src/ui/settings/link';
import { checkConfig } from '../../src/ui/settings/validate';

test('an empty link is the first preset, without complaint', () => {
  const link = parseLink('');
  expect(link.config).toEqual(presets['household-tiny']);
  expect(link.autostart).toBe(false);
  expect(link.notice).toBeNull();
});

test('the link of the issue starts by itself', () => {
  const link = parseLink('#autostart&preset=household-tiny&iterations=2&seed=7');
  expect(link.autostart).toBe(true);
  expect(link.config).toEqual({ ...presets['household-tiny'], iterations: 2, seed: 7 });
  expect(link.notice).toBeNull();
});

test('every setting survives the way into a link and back', () => {
  const config = {
    ...presets['household-quick'],
    seed: 123,
    learningRate: 1e-4,
    rollouts: 'real' as const,
    goalCheck: !presets['household-quick'].goalCheck,
    aggregation: 'token-mean' as const,
    temperature: 0.75,
  };
  const state = { config, hide: new Set(['settings', 'export'] as const), speed: 'fast' as const };
  const link = parseLink(`#${formatLink(state)}`);
  expect(link.config).toEqual(config);
  expect([...link.hide].sort()).toEqual(['export', 'settings']);
  expect(link.speed).toBe('fast');
  expect(link.notice).toBeNull();
});

test('an algorithm brings its settings, wherever it stands in the link; what the link says counts more', () => {
  const ppo = parseLink('#algorithm=ppo').config;
  expect(ppo).toMatchObject({ algorithm: 'ppo', advantage: 'gae', aggregation: 'token-mean' });
  expect(formatLink({ config: ppo, hide: new Set(), speed: 'watch' })).toBe(
    'v=1&preset=household-tiny&seed=1&algorithm=ppo',
  );
  for (const hash of ['#clipHigh=0.5&algorithm=dr-grpo', '#algorithm=dr-grpo&clipHigh=0.5'])
    expect(parseLink(hash).config).toMatchObject({ clipHigh: 0.5, normalization: 'group-mean' });
  const plus = { ...parseLink('#algorithm=reinforce%2B%2B&temperature=0.5').config };
  expect(parseLink(`#${formatLink({ config: plus, hide: new Set(), speed: 'watch' })}`).config).toEqual(plus);
  expect(plus).toMatchObject({ algorithm: 'reinforce++', temperature: 0.5 });
});

test('a link names only what differs from the preset', () => {
  const config = { ...presets['household-tiny'], temperature: 0.5 };
  expect(changedKeys(config)).toEqual(['temperature']);
  expect(formatLink({ config, hide: new Set(), speed: 'watch' })).toBe(
    'v=1&preset=household-tiny&seed=1&temperature=0.5',
  );
});

test('out of range is clamped and said; nonsense is refused and said', () => {
  const link = parseLink('#iterations=99999&temperature=hot&goalCheck=perhaps&rollouts=mars&groupSize=2.6');
  expect(link.config.iterations).toBe(1000);
  expect(link.config.groupSize).toBe(3);
  expect(link.config.temperature).toBe(presets['household-tiny'].temperature);
  expect(link.config.rollouts).toBe('dream');
  expect(link.notice?.code).toBe('bad-link');
  for (const word of ['Iterations', 'hot', 'perhaps', 'mars', 'Tries per task'])
    expect(link.notice?.message).toContain(word);
  expect(link.notice?.advice).not.toBe('');
});

test('unknown keys, presets and versions are ignored with a notice', () => {
  const link = parseLink('#v=9&preset=castle&sparkle=1&hide=settings,walls&speed=warp');
  expect(link.config).toEqual(presets['household-tiny']);
  expect([...link.hide]).toEqual(['settings']);
  for (const word of ['newer version', 'castle', 'sparkle', 'walls', 'warp'])
    expect(link.notice?.message).toContain(word);
});

test('numbers are written as numbers: no blanks, hex, infinity or exponent tricks', () => {
  for (const text of ['', ' ', '0x10', 'Infinity', 'NaN', '1e999', '1,5'])
    expect(parseLink(`#seed=${encodeURIComponent(text)}`).config.seed).toBe(1);
});

test('a hostile value is shown harmless', () => {
  const link = parseLink(`#sparkle\u202E${encodeURIComponent('<img src=x>')}=1`);
  expect(link.notice?.message).toContain('‹U+202E›');
});

test('no link throws, and whatever it says, the settings are valid', () => {
  const keys = fc.constantFrom(
    ...fields.map(({ key }) => key as string),
    'v',
    'hide',
    'autostart',
    'speed',
    '__proto__',
    'x',
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(keys, fc.string()), { maxLength: 8 }), (pairs) => {
      const link = parseLink(`#${new URLSearchParams(pairs).toString()}`);
      expect(checkConfig(link.config).notes).toEqual([]);
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => void parseLink(text)));
});

test('every setting of a run has a field with one sentence', () => {
  expect(fields.map(({ key }) => key as string).sort()).toEqual(Object.keys(presets['household-tiny']).sort());
  for (const { help } of fields) expect(help).toMatch(/^[A-Z].*\.$/);
});

test('a script’s settings are checked like a link’s', () => {
  const { config, notes } = checkConfig({ iterations: 0, seed: 'seven', sparkle: 1, goalCheck: false });
  expect(config).toEqual({ iterations: 1, goalCheck: false });
  expect(notes).toHaveLength(3);
  expect(checkConfig(null).notes).toHaveLength(1);
});
