import { expect, test } from 'vitest';
import { testGpu } from '../gpu';

test('what is written comes back', async () => {
  const gpu = await testGpu();
  const data = Float32Array.from({ length: 1000 }, (_, i) => i / 3);
  const buffer = gpu.upload(data, 'numbers');
  expect(await gpu.readF32(buffer, data.length)).toEqual(data);
});
