/** @file A command line in a pretended terminal: its exit code and what it wrote. */
import { main } from '../../src/cli/main';

interface Place {
  folder: string;
  /** The program's own folder; `folder` where it does not matter. */
  root?: string;
  onInterrupt?: (handler: () => void) => void;
}

export async function inTerminal(argv: string[], { folder, root = folder, onInterrupt = () => {} }: Place) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await main(argv, {
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    root,
    folder,
    onInterrupt,
  });
  return { code, out: out.join(''), err: err.join('') };
}

/** With `--json`: the last line is the result. */
export async function resultInTerminal(argv: string[], place: Place) {
  const { code, out, err } = await inTerminal([...argv, '--json'], place);
  return { code, err, result: JSON.parse(out.trim().split('\n').at(-1) ?? '') };
}
