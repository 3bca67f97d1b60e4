/** @file `dream COMMAND`: finds the command, gives it its surroundings, and turns whatever it throws into an exit code. */
import { isAbsolute, resolve } from 'node:path';
import { asDreamError } from '../data/errors';
import type { Command, CommandIo } from './command';
import { nearest, UsageError } from './options';
import { ProgressBar, type ProgressStream } from './progress';

interface Entry {
  summary: string;
  load(): Promise<Command>;
}

const commands: Record<string, Entry> = {
  train: { summary: 'train the agent on dreamed experience', load: () => import('./commands/train') },
  eval: { summary: 'measure the agent in the real world', load: () => import('./commands/eval') },
  annotate: { summary: 'reasoning for trajectories that have none', load: () => import('./commands/annotate') },
  'early-experience': {
    summary: 'data sets of Early Experience from a built-in world',
    load: () => import('./commands/early-experience'),
  },
  experiment: {
    summary: 'compare methods over seeds: a grid from a file',
    load: () => import('./commands/experiment'),
  },
  judge: {
    summary: 'how good the dreams are: four scores by a model and by rules',
    load: () => import('./commands/judge'),
  },
  pretrain: { summary: 'make the embedded base model', load: () => import('./commands/pretrain') },
  experience: {
    summary: 'how much offline data the experience model needs',
    load: () => import('./commands/experience'),
  },
  generate: { summary: 'continue a prompt with a real model', load: () => import('./commands/generate') },
  score: { summary: 'log-probabilities of a text under a real model', load: () => import('./commands/score') },
  model: {
    summary: 'what a model file holds and needs: model inspect, model plan',
    load: () => import('./commands/model'),
  },
  'lora-gradients': {
    summary: 'gradients and steps of a LoRA on given sequences, for comparison',
    load: () => import('./commands/lora-gradients'),
  },
  bench: { summary: 'measure kernels, decoding and training', load: () => import('./commands/bench') },
  doctor: { summary: 'show the GPU and check its arithmetic', load: () => import('./commands/doctor') },
  export: {
    summary: 'a run as a bundle, data sets or a kit for TRL and verl',
    load: () => import('./commands/export'),
  },
  'import-run': { summary: 'a bundle becomes a run to continue', load: () => import('./commands/import-run') },
  serve: { summary: 'a built-in world for trainers elsewhere', load: () => import('./commands/serve') },
  relay: { summary: 'let the page reach environment servers without CORS', load: () => import('./commands/relay') },
  import: { summary: 'read trajectories of other programs', load: () => import('./commands/import') },
  env: { summary: 'the worlds, and a game in them: env list, env play', load: () => import('./commands/env') },
};

const usage = `Usage: npm run --silent dream -- COMMAND [options]

${Object.entries(commands)
  .map(([name, { summary }]) => `  ${name.padEnd(18)}${summary}`)
  .join('\n')}

  --json     print the result as one JSON object, the last line of stdout
  --help     show this, or a command's own options
`;

/** Everything outside the program that it touches, so that a test can stand in. */
export interface Surroundings {
  stdout: ProgressStream;
  stderr: ProgressStream;
  /** The project's folder. */
  root: string;
  /** The folder the person typed the command in. */
  folder: string;
  /** Called with the handler for Ctrl-C when a command first asks for its signal. */
  onInterrupt(handler: () => void): void;
}

/** Runs one command line; resolves to the exit code: 0 done, 1 failed, 2 wrong usage. Never throws. */
export async function main(argv: readonly string[], around: Surroundings): Promise<number> {
  const end = argv.indexOf('--');
  const flags = end < 0 ? argv : argv.slice(0, end);
  const json = flags.includes('--json');
  const help = flags.includes('--help') || flags.includes('-h');
  const [name, ...args] = argv.filter(
    (arg, i) => !((end < 0 || i < end) && (arg === '--json' || arg === '--help' || arg === '-h')),
  );
  const out = (text: string) => around.stdout.write(`${text}\n`);
  const err = (text: string) => around.stderr.write(`${text}\n`);
  const { io, clear, finished } = makeIo(json, around);
  try {
    if (name === undefined) {
      if (!help) throw new UsageError('no-command', 'No command was given.', usage);
      out(usage.trimEnd());
      return 0;
    }
    if (!Object.hasOwn(commands, name)) {
      const close = nearest(name, Object.keys(commands));
      throw new UsageError(
        'unknown-command',
        `There is no command "${name}".`,
        `${close ? `Did you mean "${close}"? ` : ''}--help lists the commands.`,
      );
    }
    const command = await commands[name].load();
    if (help) {
      out(command.help?.trim() ?? `${name}: ${commands[name].summary}`);
      return 0;
    }
    return (await command.run(args, io)) ?? 0;
  } catch (thrown) {
    const error = asDreamError(thrown);
    clear();
    err(`${error.message}\n${error.advice}`);
    // A defect's stack helps whoever repairs it; a typed error has said all there is.
    if (error.code === 'unexpected' && thrown instanceof Error && thrown.stack) err(thrown.stack);
    if (json && !finished())
      out(JSON.stringify({ error: { code: error.code, message: error.message, advice: error.advice } }));
    return error instanceof UsageError ? 2 : 1;
  }
}

/** `clear` removes the progress line; `finished` tells whether the result was printed. */
function makeIo(json: boolean, around: Surroundings): { io: CommandIo; clear(): void; finished(): boolean } {
  let finished = false;
  let abort: AbortController | undefined;
  let bar: ProgressBar | undefined;
  const write = (stream: ProgressStream, line: string) => {
    bar?.clear();
    stream.write(`${line}\n`);
  };
  const io: CommandIo = {
    json,
    root: around.root,
    get signal() {
      if (!abort) {
        const controller = new AbortController();
        abort = controller;
        around.onInterrupt(() => controller.abort());
      }
      return abort.signal;
    },
    print: (line) => write(json ? around.stderr : around.stdout, line),
    note: (line) => write(around.stderr, line),
    result(value) {
      if (finished) throw new Error('A command gave two results.');
      finished = true;
      if (json) write(around.stdout, JSON.stringify(value));
    },
    progress(label) {
      bar?.clear();
      bar = new ProgressBar(around.stderr, label);
      return bar;
    },
    resolve: (path) => (isAbsolute(path) ? path : resolve(around.folder, path)),
  };
  return { io, clear: () => bar?.clear(), finished: () => finished };
}
