/** @file `dream env`: the worlds at your own keyboard, those the agent is measured in. */
import { worlds } from '../../envs/registry';
import type { CommandIo } from '../command';
import { play, playHelp } from '../env-play';
import { parseOptions, UsageError } from '../options';

export const help = playHelp;

export function run(args: string[], io: CommandIo): Promise<number> {
  const [verb, ...rest] = args;
  if (verb === 'play') return play(rest, io);
  if (verb === 'list') return list(rest, io);
  const problem = verb === undefined ? 'env needs a verb.' : `env does not know "${verb}".`;
  throw new UsageError('unknown-command', problem, 'Type: env list, or env play');
}

async function list(args: string[], io: CommandIo): Promise<number> {
  parseOptions(args, {});
  const envs = [];
  for (const open of Object.values(worlds)) {
    const { name, summary } = await open();
    envs.push({ name, summary });
    io.print(`${name.padEnd(12)}${summary}`);
  }
  io.print(`${'FILE'.padEnd(12)}A real TextWorld or ALFWorld game: env play --env game.tw-pddl`);
  io.print(`${'URL'.padEnd(12)}An OpenEnv or AgentGym server: env play --remote ws://127.0.0.1:8000/ws`);
  io.result({ envs });
  return 0;
}
