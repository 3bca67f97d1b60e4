/**
 * @file A function call as a command of a world: tool calls of chat models, AgentGym's `function_calling` and
 * `code_as_action` formats.
 */

type Arguments = Record<string, unknown>;

/** Functions whose only argument is the command itself. */
const relays = new Set([
  'act',
  'action',
  'do',
  'execute',
  'execute_action',
  'perform_action',
  'play',
  'step',
  'take_action',
]);

/** AgentGym's ALFWorld functions: name -> verb, and the word between two arguments. */
const household: Readonly<Record<string, readonly [verb: string, joiner: string]>> = {
  goto: ['go to', ''],
  go_to: ['go to', ''],
  take: ['take', 'from'],
  put: ['put', 'in/on'],
  move: ['move', 'to'],
  open: ['open', ''],
  close: ['close', ''],
  toggle: ['toggle', ''],
  use: ['use', ''],
  heat: ['heat', 'with'],
  cool: ['cool', 'with'],
  clean: ['clean', 'with'],
  slice: ['slice', 'with'],
  examine: ['examine', 'with'],
  look: ['look', ''],
  inventory: ['inventory', ''],
};

const householdKeys = new Set(['obj', 'recep', 'object', 'receptacle', 'location', 'target', 'tool']);

/** `search(keywords)` -> `search[keywords]`, `take(obj, recep)` -> `take obj from recep`; others keep a call's form. */
export function commandOf(name: string, values: Arguments | readonly unknown[]): string {
  const bare = name.trim();
  const positional = Array.isArray(values);
  const named: [string, unknown][] = positional
    ? values.map((value, i) => [String(i), value])
    : Object.entries(values as Arguments);
  const words = named.map(([, value]) => (typeof value === 'string' ? value : JSON.stringify(value)));
  if (relays.has(bare) && words.length === 1) return words[0].trim();
  if (Object.hasOwn(household, bare) && (positional || named.every(([key]) => householdKeys.has(key)))) {
    const [verb, joiner] = household[bare];
    // AgentGym's own order: the object first, whatever order the model wrote.
    const ordered = positional
      ? words
      : [...named].sort(([a], [b]) => rank(a) - rank(b)).map(([, value]) => String(value));
    const separator = joiner ? ` ${joiner} ` : ' ';
    return ordered.length === 0 ? verb : `${verb} ${ordered.join(separator)}`;
  }
  if (words.length === 0) return `${bare}[]`;
  return bare === 'search' || bare === 'click' || words.length === 1
    ? `${bare}[${words.join('] [')}]`
    : `${bare} ${words.map((word) => `[${word}]`).join(' ')}`;
}

const rank = (key: string) => (key.startsWith('obj') ? 0 : 1);

/** Arguments as chat models send them: an object, or an object in a string. null when they cannot be read. */
export function readArguments(value: unknown): Arguments | readonly unknown[] | null {
  if (value === undefined || value === null || value === '') return {};
  if (Array.isArray(value)) return value;
  if (typeof value === 'object') return value as Arguments;
  if (typeof value !== 'string') return null;
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Arguments) : [parsed];
  } catch {
    return null;
  }
}

/** The last call in a piece of Python, `take("cup 1", "shelf 1")`, as a command; comments and prints are thought. */
export function commandOfCode(code: string): { thought: string; action: string } | null {
  const lines = code.split('\n');
  const thought = lines.filter((line) => /^\s*#/.test(line)).map((line) => line.replace(/^\s*#+\s?/, ''));
  for (const line of lines.reverse()) {
    const call = /^\s*(?:\w+\s*=\s*)?(?:print\()?([A-Za-z_]\w*)\((.*?)\)\)?\s*$/.exec(line);
    if (!call || line.trimStart().startsWith('#')) continue;
    const values: string[] = [];
    for (const [, , double, single, plain] of call[2].matchAll(
      /(?:(\w+)\s*=\s*)?(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^,\s][^,]*))/g,
    ))
      values.push(double ?? single ?? plain.trim());
    return { thought: thought.join('\n'), action: commandOf(call[1], values) };
  }
  return null;
}
