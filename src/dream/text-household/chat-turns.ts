/**
 * @file A conversation that only grows, in tokens: what was sampled stays as it was sampled, what follows it is written
 * as the model's own chat template would.
 *
 * Templates render whole conversations. So a dummy conversation (question, answer, next question) is rendered, and the cut
 * is made right after the token that ends its answer: everything behind it is what comes between an answer and the next
 * one, whatever the template writes there. The special token at the cut separates the two sides for any tokenizer, so the
 * pieces joined are the whole, token for token.
 */
import { DreamError } from '../../data/errors';
import type { ChatMessage, ChatOptions } from '../../models/chat-template';
import type { TextTokenizer } from '../../models/text-tokenizer';

/** Letters that no template changes, and that stand in none. */
const question = 'zquestionz';
const answer = 'zanswerz';

/** Reasoning models are asked to answer at once: our answers hold their own short thought. */
const options: ChatOptions = { addGenerationPrompt: true, variables: { enable_thinking: false } };

/** The sampler knows four stop tokens. */
const mostStops = 4;

export class ChatTurns {
  /** The token with which the template ends an answer. */
  readonly end: number;
  readonly stopTokens: readonly number[];
  /** Tokens of the dummy conversation up to and including `end`. */
  private readonly cut: number;
  private readonly knowsSystem: boolean;

  /** Throws `no-chat-template`, and `chat-template-unsplittable` when answers have no end of their own. */
  constructor(readonly tokenizer: TextTokenizer) {
    const conversation = dummy(question);
    const text = tokenizer.chat(conversation, options);
    const at = text.indexOf(answer);
    if (at < 0 || text.indexOf(answer, at + 1) >= 0) throw unsplittable('it does not repeat an answer as it was given');
    const upToAnswer = tokenizer.encode(text.slice(0, at + answer.length), { parseSpecial: true });
    let before = upToAnswer.filter((id) => tokenizer.isSpecial(id)).length;
    const tokens = tokenizer.chatTokens(conversation, options);
    const end = tokens.findIndex((id) => tokenizer.isSpecial(id) && before-- === 0);
    if (end < 0 || !tokenizer.stopIds.includes(tokens[end]))
      throw unsplittable('no token that the model stops at follows an answer');
    if (!tokenizer.decode(tokens.slice(0, end)).trimEnd().endsWith(answer))
      throw unsplittable('it writes something of its own behind an answer');
    if (!tokenizer.decode(tokens.slice(end + 1)).includes(question))
      throw unsplittable('it leaves out what follows an answer');
    this.end = tokens[end];
    this.cut = end + 1;
    this.stopTokens = [this.end, ...tokenizer.stopIds.filter((id) => id !== this.end)].slice(0, mostStops);
    this.knowsSystem = this.takesSystem();
  }

  /** From the very start to where the model's first answer begins. */
  opening(system: string, user: string, begun = ''): number[] {
    const messages = this.knowsSystem
      ? [message('system', system), message('user', user)]
      : [message('user', `${system}\n\n${user}`)];
    return [...this.tokenizer.chatTokens(messages, options), ...this.tokenizer.encode(begun)];
  }

  /** From behind an ended answer to where the next one begins, or goes on after `begun`. */
  next(user: string, begun = ''): number[] {
    return [...this.tokenizer.chatTokens(dummy(user), options).slice(this.cut), ...this.tokenizer.encode(begun)];
  }

  /** What an answer lacks to be ended: nothing, or one token. */
  closing(words: readonly number[]): number[] {
    return words.at(-1) === this.end ? [] : [this.end];
  }

  /** An answer that we put into the model's mouth. */
  spoken(text: string): number[] {
    return [...this.tokenizer.encode(text), this.end];
  }

  /** The text of an answer that the model ended itself; null for one that was cut off or holds structural tokens. */
  textOf(words: readonly number[]): string | null {
    const last = words.at(-1);
    if (last === undefined || !this.stopTokens.includes(last)) return null;
    const body = words.slice(0, -1);
    if (body.some((id) => this.tokenizer.isSpecial(id))) return null;
    return this.tokenizer.decode(body);
  }

  /** Keeps as many of an answer's tokens as lie before `at` in its text and writes the rest anew. */
  rewritten(words: readonly number[], at: number, rest: string): number[] {
    let kept = words.length - 1;
    while (kept > 0 && this.tokenizer.decode(words.slice(0, kept)).length > at) kept--;
    const before = this.tokenizer.decode(words.slice(0, kept)).length;
    const text = this.tokenizer.decode(words.slice(0, -1)).slice(before, at) + rest;
    return [...words.slice(0, kept), ...this.tokenizer.encode(text), words[words.length - 1]];
  }

  private takesSystem(): boolean {
    try {
      return this.tokenizer.chat([message('system', answer), message('user', question)], options).includes(answer);
    } catch (error) {
      if (error instanceof DreamError && error.code === 'chat-template-failed') return false;
      throw error;
    }
  }
}

/** Templates trim what they are given, or not: ours has nothing to trim. */
function message(role: string, content: string): ChatMessage {
  return { role, content: content.trim() };
}

function dummy(next: string): ChatMessage[] {
  return [message('user', question), message('assistant', answer), message('user', next)];
}

function unsplittable(why: string): DreamError {
  return new DreamError(
    'chat-template-unsplittable',
    `The model's chat template cannot be continued turn by turn: ${why}.`,
    'Use an instruction-tuned model with a ChatML or Llama 3 template, or another version of its tokenizer files.',
  );
}
