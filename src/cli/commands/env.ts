/** @file `dream env play`: the real world at your own keyboard, the one the agent is measured in. */
import type { CommandIo } from '../command';
import { playHelp, playHousehold } from '../env-play';
import { UsageError } from '../options';

export const help = playHelp;

export function run(args: string[], io: CommandIo): Promise<number> {
  const [verb, ...rest] = args;
  if (verb !== 'play') {
    const problem = verb === undefined ? 'env needs a verb.' : `env does not know "${verb}".`;
    throw new UsageError('unknown-command', problem, 'Type: env play');
  }
  return playHousehold(rest, io);
}
