/**
 * @file A conversation as one text, by the model's own Jinja template (@huggingface/jinja: a small interpreter, no eval).
 *
 * A run must not depend on the day it is started, and Llama 3's templates print today's date when they can: they get a
 * fixed one unless the caller says otherwise. So the globals are ours: the library's own clock cannot be replaced.
 */
import { Environment, Interpreter, Template } from '@huggingface/jinja';
import { DreamError } from '../data/errors';

export interface ChatMessage {
  /** `system`, `user`, `assistant`, or `tool` where the template knows it. */
  role: string;
  content: string;
}

export interface ChatOptions {
  /** End with the beginning of the assistant's turn. */
  addGenerationPrompt?: boolean;
  /** JSON schemas of functions, for templates that write them. */
  tools?: readonly Record<string, unknown>[];
  /** What the template takes for today. */
  date?: Date;
  /** Further variables of the template, e.g. `enable_thinking` of Qwen3 and SmolLM3. */
  variables?: Readonly<Record<string, unknown>>;
}

/** The day Llama 3's templates themselves take when there is no clock. */
const fixedDate = new Date(Date.UTC(2024, 6, 26));
/** The longest known is 20 kB. */
const MAX_TEMPLATE_LENGTH = 2 ** 20;
const months = 'January February March April May June July August September October November December'.split(' ');

/** Python's strftime in English and UTC, as far as templates go. */
function strftime(date: Date, format: string): string {
  const two = (n: number): string => String(n).padStart(2, '0');
  const month = months[date.getUTCMonth()];
  const parts: Record<string, string> = {
    Y: String(date.getUTCFullYear()),
    m: two(date.getUTCMonth() + 1),
    d: two(date.getUTCDate()),
    B: month,
    b: month.slice(0, 3),
    H: two(date.getUTCHours()),
    M: two(date.getUTCMinutes()),
    '%': '%',
  };
  return format.replace(/%([YmdBbHM%])/g, (_, letter: string) => parts[letter]);
}

/** Python's. A template is hostile text: it must not fill the memory. */
function range(first: number, end?: number, step = 1): number[] {
  const [from, to] = end === undefined ? [0, first] : [first, end];
  const length = step === 0 ? Number.NaN : Math.max(0, Math.ceil((to - from) / step));
  if (!(length <= 100_000)) throw new Error('range() of no use to a chat');
  return Array.from({ length }, (_, i) => from + i * step);
}

const constants = { true: true, True: true, false: false, False: false, none: null, None: null };

/** `chat_template` is a text, or a list of named ones (`default`, `tool_use`). */
function templateText(value: unknown, withTools: boolean): string | null {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return null;
  const named = new Map(value.map((entry) => [entry?.name, entry?.template] as const));
  const text = (withTools ? named.get('tool_use') : undefined) ?? named.get('default');
  return typeof text === 'string' ? text : null;
}

export class ChatTemplate {
  private readonly parsed = new Map<string, Template>();

  /**
   * @param config tokenizer_config.json; a chat_template.jinja beside it goes in as its `chat_template`.
   * @param tokens The special tokens' texts by the names templates use (`bos_token`, ...).
   */
  constructor(
    private readonly config: Readonly<Record<string, unknown>>,
    private readonly tokens: Readonly<Record<string, string>>,
  ) {}

  get exists(): boolean {
    return templateText(this.config.chat_template, false) !== null;
  }

  /** Throws `no-chat-template`, and `chat-template-failed` with the template's own words. */
  render(messages: readonly ChatMessage[], options: ChatOptions): string {
    const text = templateText(this.config.chat_template, (options.tools?.length ?? 0) > 0);
    if (text === null) {
      throw new DreamError(
        'no-chat-template',
        'This model brings no chat template.',
        'Take the instruction-tuned version of the model, or use plain prompts.',
      );
    }
    const date = options.date ?? fixedDate;
    try {
      let template = this.parsed.get(text);
      if (!template) {
        if (text.length > MAX_TEMPLATE_LENGTH) throw new Error('it is longer than a megabyte');
        template = new Template(text);
        this.parsed.set(text, template);
      }
      const variables = {
        ...this.tokens,
        ...options.variables,
        messages,
        add_generation_prompt: options.addGenerationPrompt ?? false,
        tools: options.tools && options.tools.length > 0 ? options.tools : null,
        range,
        strftime_now: (format: string) => strftime(date, format),
        raise_exception: (message: string) => {
          throw new Error(message);
        },
        ...constants,
      };
      const environment = new Environment();
      for (const [name, value] of Object.entries(variables)) environment.set(name, value);
      return String(new Interpreter(environment).run(template.parsed).value);
    } catch (cause) {
      throw new DreamError(
        'chat-template-failed',
        `The model's chat template refuses this conversation: ${cause instanceof Error ? cause.message : cause}`,
        'Some templates know no system role, no tools, or want user and assistant in turns; change the messages.',
        { cause },
      );
    }
  }
}
