/** @file `dream early-experience`: the three data sets of Early Experience from a built-in world, as chat messages. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  demonstrationExample,
  type ExploredStep,
  exploreWorld,
  reflectionExample,
  reflectOn,
  worldModelExamples,
} from '../../dream/early-experience/data-sets';
import { endpointTextModel } from '../../dream/text-models';
import { hashKey, Random } from '../../envs/household';
import { openWorld } from '../../envs/registry';
import { AtomicLines } from '../atomic-lines';
import type { CommandIo } from '../command';
import { describeOptions, type OptionSpecs, parseOptions, UsageError } from '../options';
import { givenReflector, reflectorOptions } from '../reflector';

const options = {
  env: { type: 'string', help: 'the world', default: 'household', choices: ['household', 'shop', 'web'] as const },
  tasks: { type: 'integer', help: 'training tasks that are demonstrated', default: 100, min: 1, max: 100_000 },
  alternatives: { type: 'integer', help: 'other actions tried at every step', default: 4, min: 0, max: 32 },
  'max-steps': { type: 'integer', help: 'of a demonstration', default: 30, min: 1, max: 200 },
  seed: { type: 'integer', help: 'of the alternatives', default: 1, min: 0 },
  out: { type: 'string', value: 'DIR', help: 'folder for expert.jsonl, iwm.jsonl and, with a model, reflection.jsonl' },
  ...reflectorOptions,
} as const satisfies OptionSpecs;

export const help = `Usage: dream early-experience --out DIR [options]

Plays the world's scripted expert, tries other actions at every step (from a snapshot, taken back at once), and writes what
an agent can learn from them: what was demonstrated, what each action leads to, and, written by a model, why this one.
Reflections that give away what the agent cannot know are asked for again, and left out in the end.

${describeOptions(options)}
  --json             {"env","tasks","demonstrations","transitions","reflections","withoutReflection","leaks"}`;

export async function run(args: string[], io: CommandIo): Promise<void> {
  const values = parseOptions(args, options);
  if (values.out === undefined) throw new UsageError('bad-option', 'There is no place to write to.', 'Add --out DIR.');
  const endpoint = givenReflector(values);
  const world = await openWorld(values.env);
  const folder = io.resolve(values.out);
  await mkdir(folder, { recursive: true });
  const files = {
    expert: new AtomicLines(join(folder, 'expert.jsonl')),
    iwm: new AtomicLines(join(folder, 'iwm.jsonl')),
    ...(endpoint ? { reflection: new AtomicLines(join(folder, 'reflection.jsonl')) } : {}),
  };
  const model = endpoint && endpointTextModel({ ...endpoint, key: process.env.DREAM_ENDPOINT_KEY });
  const random = new Random(hashKey('early-experience-files', values.seed));
  const result = {
    env: values.env,
    tasks: 0,
    demonstrations: 0,
    transitions: 0,
    reflections: 0,
    withoutReflection: 0,
    leaks: {} as Record<string, number>,
  };
  const bar = io.progress('exploring');
  try {
    for (const steps of exploreWorld(world, { ...values, maxSteps: values['max-steps'] })) {
      io.signal.throwIfAborted();
      result.tasks++;
      for (const step of steps) {
        await files.expert.write(demonstrationExample(step));
        result.demonstrations++;
        for (const example of worldModelExamples(step, random)) {
          await files.iwm.write(example);
          result.transitions++;
        }
      }
      if (model && files.reflection) await reflect(steps, files.reflection);
      bar.update(result.tasks / values.tasks, `${result.transitions} transitions`);
    }
    for (const file of Object.values(files)) await file.finish();
  } catch (error) {
    for (const file of Object.values(files)) await file.discard();
    throw error;
  } finally {
    bar.clear();
    await model?.dispose();
  }
  io.print(`${result.demonstrations} demonstrated steps of ${result.tasks} tasks, ${result.transitions} next states.`);
  if (model) io.print(`${result.reflections} reflections, ${result.withoutReflection} steps without one.`);
  io.result(result);

  async function reflect(steps: readonly ExploredStep[], file: AtomicLines): Promise<void> {
    const { monologues, leaks } = await reflectOn(steps, model!, { seed: values.seed, signal: io.signal });
    for (const [kind, count] of Object.entries(leaks)) result.leaks[kind] = (result.leaks[kind] ?? 0) + count;
    for (const [i, monologue] of monologues.entries()) {
      if (monologue === null) result.withoutReflection++;
      else {
        await file.write(reflectionExample(steps[i], monologue));
        result.reflections++;
      }
    }
  }
}
