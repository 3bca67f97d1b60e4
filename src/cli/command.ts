/** @file What a terminal command is: a module with `run`, told apart from the dispatcher so that each can be tested alone. */
import type { ProgressBar } from './progress';

/** What a command may talk to. Nothing else writes to stdout, so that `--json` stays one clean line. */
export interface CommandIo {
  /** `--json` was given: the result is wanted as one JSON object. */
  readonly json: boolean;
  /** Folder of the project (public/models lies under it); relative paths given by a person mean their own folder. */
  readonly root: string;
  /** Aborted by the first Ctrl-C or SIGTERM; the second one ends the process. */
  readonly signal: AbortSignal;
  /** A line for a person: stdout, or stderr with `--json`. */
  print(line: string): void;
  /** A remark that is not part of the result: always stderr. */
  note(line: string): void;
  /** The command's result: printed as the last line of stdout with `--json`, silent otherwise. At most once. */
  result(value: object): void;
  /** A progress bar on a terminal; silent elsewhere. */
  progress(label: string): ProgressBar;
  /** A path given by a person, resolved against the folder they typed the command in. */
  resolve(path: string): string;
}

/** A module under `commands/`. `args` are the words after the command's name, without `--json` and `--help`. */
export interface Command {
  /** Resolves to the exit code; nothing means 0. */
  run(args: string[], io: CommandIo): Promise<number | undefined> | Promise<void>;
  /** Printed by `--help`. */
  help?: string;
}
