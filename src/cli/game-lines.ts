/** @file What a person types in a game, line by line; Ctrl-C ends it. And what may be printed there. */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** A world's text may come from a file or another machine: it must not steer the terminal. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (char) => (char === '\n' || char === '\t' ? char : '�'));
}

/** Trimmed lines until the input ends, `signal` aborts or Ctrl-C is typed. A prompt is shown on a terminal only. */
export async function* gameLines(
  input: Readable,
  signal: AbortSignal,
  onInterrupt?: () => void,
): AsyncGenerator<string, void> {
  const terminal = input === process.stdin && process.stdin.isTTY === true;
  const lines = createInterface({ input, output: terminal ? process.stderr : undefined, prompt: '> ', terminal });
  const stop = () => lines.close();
  signal.addEventListener('abort', stop, { once: true });
  // With a terminal readline turns Ctrl-C into an event of its own.
  lines.on('SIGINT', () => {
    onInterrupt?.();
    stop();
  });
  if (terminal) lines.prompt();
  try {
    for await (const line of lines) {
      yield line.trim();
      if (terminal) lines.prompt();
    }
  } finally {
    lines.close();
    signal.removeEventListener('abort', stop);
  }
}
