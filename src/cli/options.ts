/**
 * @file Options of a command, declared once: parsed, checked, and printed by `--help`.
 *
 * node:util's parseArgs does the splitting; it knows neither numbers nor ranges, and its errors do not say what to do.
 */
import { parseArgs } from 'node:util';
import { DreamError } from '../data/errors';

/** Wrong words on the command line: exit code 2, as every Unix tool does. */
export class UsageError extends DreamError {}

export type OptionSpec =
  | { type: 'boolean'; help: string }
  | { type: 'string'; help: string; value?: string; default?: string; choices?: readonly string[] }
  | { type: 'number' | 'integer'; help: string; default?: number; min?: number; max?: number };

export type OptionSpecs = Record<string, OptionSpec>;

type OptionValue<S extends OptionSpec> = S extends { type: 'boolean' }
  ? boolean
  : S extends { type: 'string'; choices: readonly (infer C)[] }
    ? S extends { default: string }
      ? C
      : C | undefined
    : S extends { type: 'string' }
      ? S extends { default: string }
        ? string
        : string | undefined
      : S extends { default: number }
        ? number
        : number | undefined;

export type OptionValues<S extends OptionSpecs> = { [K in keyof S]: OptionValue<S[K]> };

/**
 * Reads `args` by `specs` (names in kebab-case, without dashes). Throws UsageError: `bad-option` for an unknown name,
 * a missing value or a stray word, `bad-value` for a value outside what the option takes.
 */
export function parseOptions<const S extends OptionSpecs>(args: readonly string[], specs: S): OptionValues<S> {
  const options: Record<string, { type: 'boolean' | 'string' }> = {};
  for (const [name, spec] of Object.entries(specs)) {
    options[name] = { type: spec.type === 'boolean' ? 'boolean' : 'string' };
  }
  let values: Record<string, unknown>;
  try {
    values = parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (cause) {
    throw explain(cause, args, specs);
  }
  const result: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries(specs)) result[name] = check(name, spec, values[name]);
  return result as OptionValues<S>;
}

function check(name: string, spec: OptionSpec, raw: unknown): boolean | string | number | undefined {
  if (spec.type === 'boolean') return raw === true;
  if (raw === undefined) return spec.default;
  const text = String(raw);
  if (spec.type === 'string') {
    if (spec.choices && !spec.choices.includes(text)) {
      throw new UsageError(
        'bad-value',
        `--${name} does not know "${text}".`,
        `Choose one of: ${spec.choices.join(', ')}.`,
      );
    }
    return text;
  }
  const number = text.trim() === '' ? Number.NaN : Number(text);
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = spec;
  const whole = spec.type === 'number' || Number.isSafeInteger(number);
  if (!Number.isFinite(number) || !whole || number < min || number > max) {
    throw new UsageError('bad-value', `--${name} cannot be "${text}".`, `Give ${range(spec)}.`);
  }
  return number;
}

function range(spec: { type: 'number' | 'integer'; min?: number; max?: number }): string {
  const kind = spec.type === 'integer' ? 'a whole number' : 'a number';
  if (spec.min !== undefined && spec.max !== undefined) return `${kind} from ${spec.min} to ${spec.max}`;
  if (spec.min !== undefined) return `${kind} of at least ${spec.min}`;
  if (spec.max !== undefined) return `${kind} of at most ${spec.max}`;
  return kind;
}

/** parseArgs' own error, as a sentence and an advice. */
function explain(cause: unknown, args: readonly string[], specs: OptionSpecs): UsageError {
  const code = (cause as { code?: string }).code;
  const message = cause instanceof Error ? cause.message : String(cause);
  const names = Object.keys(specs);
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const word = /'(-[^']*)'/.exec(message)?.[1] ?? args.find((arg) => arg.startsWith('-')) ?? '';
    const close = nearest(word.replace(/^-+/, ''), names);
    return new UsageError(
      'bad-option',
      `There is no option ${word}.`,
      `${close ? `Did you mean --${close}? ` : ''}--help lists what this command takes.`,
      { cause },
    );
  }
  if (code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL') {
    const word = /'([^']*)'/.exec(message)?.[1] ?? '';
    return new UsageError('bad-option', `"${word}" is not expected here.`, '--help lists what this command takes.', {
      cause,
    });
  }
  return new UsageError('bad-option', message.split('\n')[0], '--help lists what this command takes.', { cause });
}

/** The known word that differs in the fewest letters, if it is close enough to be a slip. */
export function nearest(word: string, known: readonly string[]): string | null {
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(word, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    previous = row;
  }
  return previous[b.length];
}

/** The option list of `--help`. */
export function describeOptions(specs: OptionSpecs): string {
  const rows = Object.entries(specs).map(([name, spec]) => [
    `  --${name}${placeholder(spec)}`,
    spec.help + remark(spec),
  ]);
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows.map(([left, right]) => left.padEnd(width) + right).join('\n');
}

function placeholder(spec: OptionSpec): string {
  if (spec.type === 'boolean') return '';
  if (spec.type === 'string') return ` ${spec.value ?? 'NAME'}`;
  return ' N';
}

function remark(spec: OptionSpec): string {
  const parts: string[] = [];
  if (spec.type === 'string' && spec.choices) parts.push(spec.choices.join(', '));
  if (spec.type !== 'boolean' && spec.default !== undefined) parts.push(`default ${spec.default}`);
  return parts.length > 0 ? ` (${parts.join('; ')})` : '';
}
