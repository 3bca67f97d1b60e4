/**
 * @file Conversations: OpenAI `messages`, ShareGPT `conversations` (ETO, FastChat), AgentGym with `loss` flags, and
 * preference pairs `{prompt, chosen, rejected}`. Keys may be mixed within one conversation (ETO's examples are).
 */
import { isJsonObject, type JsonObject } from '../../json-object';
import type { Dropped, Finding, FormatReader, FoundEpisode, FoundTurn, Piece } from '../pieces';
import { readAnswer, toolCommand } from './agent-answer';
import { field, jsonIn, textOf } from './json-piece';
import { outcomeOf } from './outcome';

type Role = 'system' | 'user' | 'agent' | 'tool';

export interface Message {
  role: Role;
  text: string;
  /** Commands of tool calls. */
  calls: string[];
  train: boolean;
  where: string;
}

const roles: Readonly<Record<string, Role>> = {
  system: 'system',
  developer: 'system',
  human: 'user',
  user: 'user',
  environment: 'user',
  env: 'user',
  observation: 'tool',
  tool: 'tool',
  function: 'tool',
  function_response: 'tool',
  ipython: 'tool',
  gpt: 'agent',
  assistant: 'agent',
  agent: 'agent',
  model: 'agent',
  bot: 'agent',
  chatgpt: 'agent',
};

export interface ConversationOptions {
  /** The format holds successes only. */
  assumeSuccess?: boolean;
}

export class ConversationReader implements FormatReader {
  constructor(private readonly options: ConversationOptions = {}) {}

  *read(piece: Piece): Generator<Finding> {
    const { where } = piece;
    const value = yield* jsonIn(piece);
    if (value === undefined) return;
    if (Array.isArray(value)) {
      yield* this.conversation(value, {}, where);
      return;
    }
    if (!isJsonObject(value)) {
      yield { where, why: 'not a conversation' };
      return;
    }
    if (Object.hasOwn(value, 'chosen') && Object.hasOwn(value, 'rejected')) yield* this.pair(value, where);
    else {
      const turns = field(value, 'messages') ?? field(value, 'conversations');
      if (Array.isArray(turns)) yield* this.conversation(turns, value, where);
      else yield { where, why: 'it has neither messages nor conversations' };
    }
  }

  *end(): Generator<Finding> {}

  private *pair(entry: JsonObject, where: string): Generator<Finding> {
    const prompt = asTurns(field(entry, 'prompt'), 'user');
    for (const side of ['chosen', 'rejected'] as const) {
      const answer = asTurns(field(entry, side), 'assistant');
      if (prompt === null || answer === null) yield { where: `${where} / ${side}`, why: 'not a list of turns' };
      // Some files repeat the prompt at the head of each side.
      else
        yield* this.conversation(repeats(prompt, answer) ? answer : [...prompt, ...answer], {}, `${where} / ${side}`, {
          preference: side,
          id: idOf(entry),
        });
    }
  }

  private *conversation(
    turns: readonly unknown[],
    entry: JsonObject,
    where: string,
    more: Partial<FoundEpisode> = {},
  ): Generator<Finding> {
    const messages: Message[] = [];
    for (const [i, turn] of turns.entries()) {
      const message = readMessage(turn, `${where} / turn ${i + 1}`);
      if ('why' in message) yield message;
      else messages.push(message);
    }
    const { episode, dropped } = episodeOf(messages, where);
    yield* dropped;
    if (episode === null) {
      yield { where, why: 'no turn of an agent with an action' };
      return;
    }
    const given = outcomeOf(entry);
    const assumed = given === null && this.options.assumeSuccess === true && more.preference === undefined;
    yield { episode: { ...episode, id: idOf(entry), outcome: assumed ? 1 : given, assumed, ...more } };
  }
}

const idOf = (entry: JsonObject): string | undefined => {
  for (const name of ['item_id', 'id', 'session_id', 'task_id']) {
    const id = field(entry, name);
    if (typeof id === 'string' || typeof id === 'number') return String(id).slice(0, 200);
  }
  return undefined;
};

function asTurns(value: unknown, role: string): unknown[] | null {
  if (Array.isArray(value)) return value;
  if (isJsonObject(value)) return [value];
  return typeof value === 'string' ? [{ role, content: value }] : null;
}

const repeats = (prompt: readonly unknown[], answer: readonly unknown[]) =>
  answer.length > prompt.length && JSON.stringify(answer.slice(0, prompt.length)) === JSON.stringify(prompt);

function readMessage(turn: unknown, where: string): Message | Dropped {
  if (!isJsonObject(turn)) return { where, why: 'not a turn' };
  const name = textOf(field(turn, 'role')) ?? textOf(field(turn, 'from')) ?? '';
  const role = Object.hasOwn(roles, name.toLowerCase()) ? roles[name.toLowerCase()] : undefined;
  if (role === undefined) return { where, why: 'a role that is neither system, user, assistant nor tool' };
  const text = contentText(field(turn, 'content') ?? field(turn, 'value'));
  const calls: string[] = [];
  const toolCalls = field(turn, 'tool_calls');
  const list = Array.isArray(toolCalls) ? toolCalls : isJsonObject(turn.function_call) ? [turn.function_call] : [];
  for (const call of list) {
    const command = isJsonObject(call) ? toolCommand(call) : null;
    if (command === null) return { where, why: 'a tool call that cannot be read' };
    calls.push(command);
  }
  if (text === null && calls.length === 0) return { where, why: 'a turn without text' };
  return { role, text: text ?? '', calls, train: field(turn, 'loss') !== false, where };
}

/** A string, or parts of which only text is kept. */
function contentText(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  const texts = content.map((part) => (isJsonObject(part) ? textOf(field(part, 'text')) : textOf(part)));
  const kept = texts.filter((text) => text !== undefined);
  return kept.length > 0 ? kept.join('\n') : null;
}

const greeting = /^ok\b/i;

/** Turns a list of messages into an episode. Also used by ATIF and WebArena's dump. */
export function episodeOf(
  messages: readonly Message[],
  where: string,
): { episode: FoundEpisode | null; dropped: Dropped[] } {
  const dropped: Dropped[] = [];
  const preamble: string[] = [];
  const first: string[] = [];
  const turns: FoundTurn[] = [];
  let thoughts: string[] = [];
  /** Turns of the last agent message that await their answers (several tool calls may). */
  let waiting: FoundTurn[] = [];
  let onlyThought = false;
  // In a plain conversation whatever the agent says is its action; where labels are used, only labelled words are.
  const free = !messages.some(({ role, text }) => role === 'agent' && /(^|\n)\s*action\s*:|<action>|```/i.test(text));
  messages.forEach((message, i) => {
    const { role, text, calls } = message;
    if (role === 'system') preamble.push(text);
    else if (role === 'agent') {
      const answer = calls.length > 0 ? null : readAnswer(text, free);
      // AgentGym and ETO begin with instructions and an "OK": no step.
      if (turns.length === 0 && calls.length === 0 && greeting.test(text.trim()) && i + 1 < messages.length) {
        preamble.push(...first.splice(0), text);
        return;
      }
      const actions = calls.length > 0 ? calls : answer?.action != null ? [answer.action] : [];
      const thought = calls.length > 0 ? text.trim() : (answer?.thought ?? '');
      if (thought !== '') thoughts.push(thought);
      onlyThought = actions.length === 0 && answer !== null;
      if (actions.length === 0) {
        if (answer === null) dropped.push({ where: message.where, why: 'an agent turn without an action' });
        return;
      }
      waiting = actions.map((action) => ({ thought: '', action, observation: null, train: message.train }));
      waiting[0].thought = thoughts.join('\n');
      thoughts = [];
      turns.push(...waiting);
    } else if (turns.length === 0) first.push(text);
    else if (onlyThought) {
      if (!/^(observation:\s*)?ok\.?$/i.test(text.trim()) && text.trim() !== '')
        dropped.push({ where: message.where, why: 'an answer to a thought' });
      onlyThought = false;
    } else answerTo(waiting, text);
  });
  if (thoughts.length > 0)
    dropped.push({ where: `${where} / last thought`, why: 'a closing thought with no action after it' });
  if (turns.length === 0) return { episode: null, dropped };
  return {
    episode: {
      where,
      first: first.join('\n\n').replace(/^\s*observation:\s*/i, ''),
      turns,
      outcome: null,
      ...(preamble.length > 0 && { preamble: preamble.join('\n\n') }),
    },
    dropped,
  };
}

/** Each tool answer belongs to the first call without one; further words to the last. */
function answerTo(waiting: readonly FoundTurn[], text: string): void {
  const words = text.replace(/^\s*observation(?: \d+)?:\s*/i, '');
  const open = waiting.find((turn) => turn.observation === null);
  if (open) open.observation = words;
  else {
    const last = waiting.at(-1);
    if (last) last.observation = `${last.observation}\n${words}`;
  }
}
