/** @file `dream import-run`: a bundle becomes the folder of a run, which train --resume continues. */
import { join } from 'node:path';
import type { CommandIo } from '../command';
import { describeOptions, type OptionSpecs, parseOptions, UsageError } from '../options';
import { openBundle, storeRun, writeWhole } from '../run-files';

const options = {
  file: { type: 'string', value: 'FILE.zip', help: 'a bundle written by export --format bundle' },
  run: { type: 'string', value: 'DIR', help: 'the new folder of the run' },
  'adapter-out': { type: 'string', value: 'DIR', help: 'also write its adapter as a PEFT folder' },
} as const satisfies OptionSpecs;

export const help = `Usage: dream import-run --file FILE.zip --run DIR

Checks a run bundle and makes a folder of it. Continue the run with: dream train --run DIR --resume --iterations N
(and --model for a run that trains an adapter: the same base model).

${describeOptions(options)}
  --json             {"run","runId","iteration","iterations","transitions","weightsHash","adapter"}`;

export async function run(args: string[], io: CommandIo): Promise<number> {
  const values = parseOptions(args, options);
  if (values.file === undefined || values.run === undefined)
    throw new UsageError('bad-option', 'import-run needs --file and --run.', '--help shows how.');
  const { stored, adapter, notices } = await openBundle(io.resolve(values.file));
  for (const notice of notices) io.note(notice);
  const folder = io.resolve(values.run);
  await storeRun(folder, stored);
  const adapterOut = values['adapter-out'];
  if (adapterOut !== undefined) {
    if (adapter.size === 0) io.note('The bundle holds no adapter: the run trains a whole model.');
    for (const [name, bytes] of adapter) await writeWhole(join(io.resolve(adapterOut), name), bytes);
  }
  const { runId, iteration, config, buffer, weightsHash } = stored;
  io.print(`${runId}: ${iteration} of ${config.iterations} iterations, ${buffer.transitions.length} transitions`);
  io.print(`Continue it with: train --run ${values.run} --resume`);
  io.result({
    run: folder,
    runId,
    iteration,
    iterations: config.iterations,
    transitions: buffer.transitions.length,
    weightsHash,
    adapter: adapter.size > 0,
  });
  return 0;
}
