/** @file `dream doctor`: what this machine's GPU offers, and whether its arithmetic can be trusted. */
import { openGpu } from '../../gpu/device';
import { runSelfTest } from '../../gpu/self-test';
import type { CommandIo } from '../command';
import { nodeGpu } from '../node-gpu';
import { describeOptions, type OptionSpecs, parseOptions } from '../options';

const options = {
  'break-kernel': { type: 'string', help: 'falsify this kernel, to see a device refused (a test of the test)' },
} as const satisfies OptionSpecs;

export const help = `Usage: dream doctor [options]

Shows the adapter, its features and limits, and runs every self-test on it.
Exit code 1 when a test fails: training on such a device would learn from wrong numbers.

${describeOptions(options)}
  --json             {"adapter","features","limits","selfTests":[{"name","ok","maxError"}]}`;

export async function run(args: string[], io: CommandIo): Promise<number> {
  const { 'break-kernel': breakKernel } = parseOptions(args, options);
  const gpu = await openGpu(await nodeGpu());
  io.print(`adapter    ${gpu.adapterName}${gpu.isSoftware ? ' (software)' : ''}`);
  io.print(`features   ${gpu.features.join(' ')}`);
  for (const [name, value] of Object.entries(gpu.limits)) io.print(`limit      ${name} ${value}`);

  const selfTests = await runSelfTest(gpu, { breakKernel }).finally(() => gpu.destroy());
  for (const { name, ok, maxError } of selfTests) {
    io.print(`${ok ? 'ok        ' : 'WRONG     '} ${name}  max error ${maxError.toExponential(1)}`);
  }
  io.result({
    adapter: gpu.adapterName,
    features: gpu.features,
    limits: gpu.limits,
    selfTests: selfTests.map(({ name, ok, maxError }) => ({ name, ok, maxError })),
  });

  const wrong = selfTests.filter(({ ok }) => !ok).map(({ name }) => name);
  if (wrong.length === 0) {
    io.print('This device computes correctly.');
    return 0;
  }
  io.note(
    `This device is refused: it computes ${wrong.join(', ')} wrongly, and training on it would learn from wrong numbers.`,
  );
  io.note('Update the graphics driver, or choose another one: VK_ICD_FILENAMES names a Vulkan driver on Linux.');
  return 1;
}
