import { describe, expect, test } from 'vitest';
import { describeOptions, nearest, type OptionSpecs, parseOptions, UsageError } from '../../src/cli/options';

const specs = {
  preset: { type: 'string', help: 'which run', default: 'tiny', choices: ['tiny', 'quick'] },
  out: { type: 'string', help: 'where to', value: 'FILE' },
  iterations: { type: 'integer', help: 'how many', default: 3, min: 1, max: 100 },
  'learning-rate': { type: 'number', help: 'step size', min: 0 },
  resume: { type: 'boolean', help: 'go on' },
} as const satisfies OptionSpecs;

function failure(args: string[]): UsageError {
  try {
    parseOptions(args, specs);
  } catch (error) {
    if (error instanceof UsageError) return error;
  }
  throw new Error(`${args.join(' ')} was accepted`);
}

describe('parseOptions', () => {
  test('gives defaults for what is not said', () => {
    expect(parseOptions([], specs)).toEqual({
      preset: 'tiny',
      out: undefined,
      iterations: 3,
      'learning-rate': undefined,
      resume: false,
    });
  });

  test('reads words, numbers and flags in both spellings', () => {
    const values = parseOptions(['--preset=quick', '--iterations', '12', '--learning-rate', '3e-4', '--resume'], specs);
    expect(values).toMatchObject({ preset: 'quick', iterations: 12, 'learning-rate': 3e-4, resume: true });
  });

  test.each([
    [['--iteration', '2'], 'bad-option', '--iterations'],
    [['--zzzzzzzz'], 'bad-option', '--help'],
    [['stray'], 'bad-option', '--help'],
    [['--iterations'], 'bad-option', '--help'],
    [['--resume=yes'], 'bad-option', '--help'],
    [['--iterations', '2.5'], 'bad-value', 'a whole number from 1 to 100'],
    [['--iterations', '0'], 'bad-value', 'from 1 to 100'],
    [['--iterations='], 'bad-value', 'from 1 to 100'],
    [['--iterations', '1e999'], 'bad-value', 'from 1 to 100'],
    [['--learning-rate=-1'], 'bad-value', 'at least 0'],
    [['--learning-rate', 'NaN'], 'bad-value', 'at least 0'],
    [['--preset', 'huge'], 'bad-value', 'tiny, quick'],
  ])('%j is refused with %s and advice', (args, code, advice) => {
    const error = failure(args);
    expect(error.code).toBe(code);
    expect(error.advice).toContain(advice);
  });
});

test('describeOptions names every option, its choices and its default', () => {
  const text = describeOptions(specs);
  expect(text).toMatch(/--preset NAME +which run \(tiny, quick; default tiny\)/);
  expect(text).toMatch(/--out FILE +where to$/m);
  expect(text).toMatch(/--iterations N +how many \(default 3\)/);
  expect(text).toMatch(/--resume +go on$/m);
});

test('nearest finds a slip and leaves strangers alone', () => {
  expect(nearest('trian', ['train', 'eval'])).toBe('train');
  expect(nearest('xylophone', ['train', 'eval'])).toBeNull();
});
