import { describe, expect, it } from 'vitest';
import { DreamError } from '../../../src/data/errors';
import { parseHubId } from '../../../src/models/sources/hub-id';
import { suggestions } from '../../../src/ui/models/hub-suggestions';
import { barsOf, budgetOf, defaultInputs, inputsFor, sliders, stepsOf } from '../../../src/ui/models/plan-inputs';
import { problemCard } from '../../../src/ui/models/problems';
import { someFacts, somePlan } from './fake-models';

describe('the sliders', () => {
  it('offer rising steps, the last context being the model’s own', () => {
    for (const { key } of sliders) {
      const steps = stepsOf(key, 8192);
      expect([...steps].sort((a, b) => a - b)).toEqual(steps);
    }
    expect(stepsOf('contextLength', 640)).toEqual([64, 128, 256, 512, 640]);
    expect(stepsOf('contextLength', 8192).at(-1)).toBe(8192);
    expect(stepsOf('contextLength', 1_000_000).at(-1)).toBe(131_072);
  });

  it('keep what was set as far as the next model allows it', () => {
    const tiny = { config: { ...someFacts.config, contextLength: 640 } };
    expect(inputsFor(tiny, { ...defaultInputs, contextLength: 4096 }).contextLength).toBe(640);
    expect(inputsFor(someFacts, { ...defaultInputs, contextLength: 512 }).contextLength).toBe(512);
    expect(inputsFor({ config: { ...tiny.config, contextLength: 32 } }, defaultInputs).contextLength).toBe(32);
  });

  it('a budget is a number of GiB', () => {
    expect(budgetOf('1.5')).toBe(1.5 * 2 ** 30);
    expect(budgetOf('1,5')).toBe(1.5 * 2 ** 30);
    for (const wrong of ['', ' ', 'much', '0', '-1', '1e9', 'NaN']) expect(budgetOf(wrong)).toBeNull();
  });
});

describe('the bars', () => {
  it('share one scale with the budget; of generating and training only the larger counts', () => {
    const { bars, budgetShare } = barsOf({ ...somePlan, training: 200, plannedGpuBytes: 310 }, 155);
    expect(budgetShare).toBe(0.5);
    expect(bars.map(({ label, spare }) => [label, spare])).toEqual([
      ['Weights', false],
      ['Tables', false],
      ['Generating: cache', true],
      ['Generating: the rest', true],
      ['Training pass', false],
    ]);
    const counted = bars.filter(({ spare }) => !spare).reduce((sum, { bytes }) => sum + bytes, 0);
    expect(counted).toBe(310);
    expect(bars.every(({ share }) => share > 0 && share <= 1)).toBe(true);
  });
});

describe('failures', () => {
  it.each([
    ['gpu-out-of-memory', /no memory left/],
    ['gpu-lost', /was reset/],
    ['hash-mismatch', /not what was published/],
    ['unsupported-architecture', /not supported/],
    ['unsupported-quantisation', /not supported/],
    ['bad-gguf', /damaged/],
    ['missing-tensor', /damaged/],
    ['missing-file', /no model/],
    ['adapter-mismatch', /adapter/],
    ['endpoint-unreachable', /did not answer/],
    ['network', /hub/],
    ['storage-full', /storage/],
    ['no-adapter', /No graphics processor/],
    ['no-lora', /nothing to do that with/],
  ])('%s has a title of its own', (code, title) => {
    const card = problemCard(new DreamError(code, 'What happened.', 'What to do.'));
    expect(card).toMatchObject({ level: 'error', text: 'What happened.', advice: ['What to do.'] });
    expect(card?.title).toMatch(title);
  });

  it('what was done on purpose is quiet', () => {
    expect(problemCard(new DreamError('superseded', '', ''))).toBeNull();
    expect(problemCard(new DreamError('stopped', 'It was stopped.', ''))?.level).toBe('info');
  });

  it('an unknown failure keeps its message', () => {
    expect(problemCard(new Error('odd'))).toMatchObject({ title: 'Something went wrong', text: 'odd' });
  });
});

it('the suggestions are ids that the hub could have', () => {
  for (const { id } of suggestions) expect(parseHubId(id).revision).toBe('main');
});
