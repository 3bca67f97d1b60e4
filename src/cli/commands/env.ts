/** @file `dream env play`: the real world at your own keyboard, the one the agent is measured in. */
import type { CommandIo } from '../command';
import { playHousehold } from '../env-play';
import { UsageError } from '../options';

export const help = `Usage: dream env play [options]

Type commands and read what the world answers; \`dream env play --help\` is answered here.
Everything after "play" is passed to the world.`;

export async function run(args: string[], io: CommandIo): Promise<number | undefined> {
  const [verb, ...rest] = args;
  if (verb !== 'play') {
    throw new UsageError(
      'unknown-command',
      verb === undefined ? 'env needs a verb.' : `env does not know "${verb}".`,
      'Type: env play',
    );
  }
  return (await playHousehold(rest, io)) ?? undefined;
}
