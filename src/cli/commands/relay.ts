/** @file `dream relay`: lets the page reach environment servers that send no CORS headers. */
import type { CommandIo } from '../command';
import { describeOptions, type OptionSpecs, parseOptions, UsageError } from '../options';
import { startRelay } from '../relay/server';
import { originAllowed, relayTargets } from '../relay/target';

const options = {
  target: { type: 'string', value: 'URL', help: 'the environment server; several: separated by commas' },
  port: { type: 'integer', help: 'of the relay (default: any free one)', min: 1, max: 65_535 },
  origin: {
    type: 'string',
    value: 'URL',
    help: 'a page that may use it, besides those served from this machine; several: separated by commas',
  },
  'allow-host': { type: 'string', value: 'HOST', help: 'a target that is not on this machine; several: by commas' },
} as const satisfies OptionSpecs;

export const help = `Usage: dream relay --target http://127.0.0.1:36001 [options]

Stands between the page and environment servers that a browser may not read (AgentGym's webshop and alfworld, OpenEnv's
/schema). It listens on this machine only, reaches the given servers only, and its address holds a secret: give the printed
address to the page, and to nobody else. Ctrl-C ends it.

${describeOptions(options)}
  --json             {"ready":true,"port","relays":[{"target","url"}...]}, printed when it is ready`;

const list = (text: string | undefined) =>
  (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

export async function run(args: string[], io: CommandIo): Promise<number> {
  const values = parseOptions(args, options);
  if (values.target === undefined)
    throw new UsageError(
      'bad-option',
      '--target is missing.',
      'Name the environment server, e.g. http://127.0.0.1:36001.',
    );
  const targets = relayTargets(values.target, list(values['allow-host']));
  const origins = list(values.origin).map(checkedOrigin);
  // Asked for before there is anything to leave behind.
  const { signal } = io;
  const relay = await startRelay({ targets, port: values.port ?? 0, origins });
  const relays = targets.map(({ origin }, i) => ({ target: origin, url: relay.urls[i] }));
  for (const { local, origin } of targets)
    if (!local) io.note(`${origin} is not on this machine: what pages send through the relay leaves it.`);
  for (const { target, url } of relays) io.print(`ready: ${url} for ${target}`);
  io.result({ ready: true, port: relay.port, relays });
  if (!signal.aborted)
    await new Promise<void>((stop) => signal.addEventListener('abort', () => stop(), { once: true }));
  await relay.close();
  return 0;
}

function checkedOrigin(text: string): string {
  try {
    const url = new URL(text);
    if (url.origin !== 'null' && originAllowed(url.origin, new Set([url.origin])) && url.pathname === '/')
      return url.origin;
  } catch {
    // Said below.
  }
  throw new UsageError(
    'bad-value',
    `--origin cannot be "${text.slice(0, 200)}".`,
    'Give scheme, host and port of the page, for example https://me.example.org.',
  );
}
