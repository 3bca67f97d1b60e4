import { expect, test } from 'vitest';
import { testGpu } from '../gpu';
import { inTerminal } from './terminal';

async function doctor(...argv: string[]) {
  await testGpu(); // sets the driver's environment when vitest was started by hand
  const { code, out, err } = await inTerminal(['doctor', ...argv], { folder: '.' });
  return { code, lines: out.trim().split('\n'), err };
}

test('doctor --json is one line that describes a device which computes correctly', async () => {
  const { code, lines } = await doctor('--json');
  expect(code).toBe(0);
  expect(lines).toHaveLength(1);
  const result = JSON.parse(lines[0]);
  expect(Object.keys(result)).toEqual(['adapter', 'features', 'limits', 'selfTests']);
  expect(result.limits.maxStorageBuffersPerShaderStage).toBeGreaterThanOrEqual(8);
  expect(result.selfTests.length).toBeGreaterThanOrEqual(10);
  for (const selfTest of result.selfTests) {
    expect(selfTest).toEqual({ name: expect.any(String), ok: true, maxError: expect.any(Number) });
  }
});

test('every kernel that computes wrongly has the device refused', async () => {
  const { lines } = await doctor('--json');
  for (const { name } of JSON.parse(lines[0]).selfTests) {
    const broken = await doctor('--json', '--break-kernel', name);
    expect(broken.code, name).toBe(1);
    expect(broken.err).toMatch(new RegExp(`refused: .*${name}`));
    const failed = JSON.parse(broken.lines.at(-1) ?? '').selfTests.filter((test: { ok: boolean }) => !test.ok);
    expect(failed.map((test: { name: string }) => test.name)).toContain(name);
  }
});
