import { expect, test } from 'vitest';
import type { DecoderConfig } from '../../src/nn/config';
import { DecoderModel, type DecoderModelOptions } from '../../src/nn/decoder-model';
import { initialise } from '../../src/nn/initialise';
import { PolicyLoss } from '../../src/rl/kernels/policy-loss';
import { testGpu } from '../gpu';
import { tinyConfig } from './tiny-models';

/** Not prepared: nothing is computed here, so no kernel needs to be timed. */
async function newModel(options: DecoderModelOptions = {}, config: DecoderConfig = tinyConfig): Promise<DecoderModel> {
  const gpu = await testGpu();
  const model = new DecoderModel(gpu, config, new PolicyLoss(gpu), options);
  await gpu.ready();
  return model;
}

const lora = { rank: 4, alpha: 8 };

test('norms are 1, adapters begin at zero, everything else is normal with its own spread', async () => {
  const model = await newModel({ lora }, { ...tinyConfig, width: 64, ffn: 64 });
  initialise(model, 1);
  const { weights } = await model.exportState(false);
  for (const p of model.named()) {
    const values = weights.get(p.name)!;
    if (p.rows === 1) expect(values.every((x) => x === 1)).toBe(true);
    else if (p.name.endsWith('lora_B')) expect(values.every((x) => x === 0)).toBe(true);
    else {
      const mean = values.reduce((a, b) => a + b, 0) / values.length;
      const std = Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / values.length);
      expect(std).toBeGreaterThan(0.005);
      expect(std).toBeLessThan(0.2);
      // Within five standard errors.
      expect(Math.abs(mean)).toBeLessThan((5 * std) / Math.sqrt(values.length));
      const wide = values.filter((x) => Math.abs(x) > 2 * std).length / values.length;
      expect(wide).toBeGreaterThan(0.02);
      expect(wide).toBeLessThan(0.08);
    }
  }
  const matrices = [...weights.values()].filter((values) => values.some((x) => x !== 0 && x !== 1));
  expect(new Set(matrices.map((values) => values[0])).size).toBe(matrices.length);
  model.dispose();
});

test('the same seed gives the same weights to the bit, another seed others', async () => {
  const [a, b, c] = [await newModel(), await newModel(), await newModel()];
  initialise(a, 7);
  initialise(b, 7);
  initialise(c, 8);
  expect(await b.exportState(false)).toEqual(await a.exportState(false));
  expect((await c.exportState(false)).weights.get('embed')).not.toEqual(
    (await a.exportState(false)).weights.get('embed'),
  );
  for (const model of [a, b, c]) model.dispose();
});
