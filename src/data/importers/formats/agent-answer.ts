/**
 * @file What an agent said, as a thought and an action, whichever way its prompt asked for it: ReAct (`Thought:` /
 * `Action:`), tags (`<think>`, `<action>`), a function call in JSON, code, WebArena's triple backticks, or bare words.
 */
import { isJsonObject, type JsonObject } from '../../json-object';
import { commandOf, commandOfCode, readArguments } from './calls';

export interface AgentAnswer {
  thought: string;
  /** null: it only thought. */
  action: string | null;
}

/**
 * null when there is no action in the text. `free` accepts any text as what the agent says (plain conversations).
 */
export function readAnswer(text: string, free = false): AgentAnswer | null {
  const words = text.replace(/<\/s>\s*$/, '').trim();
  if (words === '') return null;
  return tagged(words) ?? functionCall(words) ?? labelled(words) ?? fenced(words) ?? bare(words, free);
}

function tagged(words: string): AgentAnswer | null {
  const action = /<action>([\s\S]*?)<\/action>/.exec(words);
  if (!action) return null;
  const thought = /<think(?:ing)?>([\s\S]*?)<\/think(?:ing)?>/.exec(words);
  return { thought: thought ? thought[1].trim() : words.slice(0, action.index).trim(), action: action[1].trim() };
}

function functionCall(words: string): AgentAnswer | null {
  if (!words.includes('"function_name"') && !/"name"\s*:/.test(words)) return null;
  const start = words.indexOf('{');
  const end = words.lastIndexOf('}');
  if (start === -1 || end < start) return null;
  let call: unknown;
  try {
    call = JSON.parse(words.slice(start, end + 1));
  } catch {
    return null;
  }
  if (!isJsonObject(call)) return null;
  const name = call.function_name ?? call.name;
  const values = readArguments(call.arguments ?? call.args ?? call.parameters);
  if (typeof name !== 'string' || values === null) return null;
  const thought = typeof call.thought === 'string' ? call.thought : words.slice(0, start).replace(/`{3}\w*\s*$/, '');
  return { thought: thought.trim(), action: commandOf(name, values) };
}

function labelled(words: string): AgentAnswer | null {
  const labels = [...words.matchAll(/(?:^|\n)\s*action(?: \d+)?\s*:[ \t]*/gi)];
  const last = labels.at(-1);
  if (last) {
    const thought = words
      .slice(0, last.index)
      .replace(/^\s*thought(?: \d+)?\s*:/i, '')
      .trim();
    let action = words.slice(last.index + last[0].length).trim();
    // LangChain writes the tool's name and its input on two lines.
    const input = /^(\S+)\s*\n\s*action input(?: \d+)?\s*:\s*([\s\S]*)$/i.exec(action);
    if (input) action = commandOf(input[1], readArguments(input[2].trim()) ?? [input[2].trim()]);
    // What follows an empty line is talk (or a hallucinated observation).
    action = action.split(/\n\s*\n|\n\s*observation\s*:/i)[0].trim();
    return action === '' ? { thought, action: null } : withThink(thought, action);
  }
  const thought = /^\s*thought(?: \d+)?\s*:([\s\S]*)$/i.exec(words);
  return thought ? { thought: thought[1].trim(), action: null } : null;
}

function fenced(words: string): AgentAnswer | null {
  const fences = [...words.matchAll(/```(\w*)\n?([\s\S]*?)```/g)];
  const last = fences.at(-1);
  if (!last) return null;
  const before = words.slice(0, last.index).trim();
  const thought = before.replace(/in summary, the next action i will perform is\s*$/i, '').trim();
  if (last[1] === 'python' || last[1] === 'py') {
    const code = commandOfCode(last[2]);
    return code && { thought: [thought, code.thought].filter(Boolean).join('\n'), action: code.action };
  }
  // ```click [12]``` has no language: the first word is the action's.
  return { thought, action: `${last[1]}${last[2].startsWith(' ') || last[1] === '' ? '' : ' '}${last[2]}`.trim() };
}

function bare(words: string, free: boolean): AgentAnswer | null {
  const line = words.replace(/^>\s*/, '');
  const thought = /^think\s*:\s*([\s\S]*)$/i.exec(line) ?? /^think\[([\s\S]*)\]$/i.exec(line);
  if (thought) return { thought: thought[1].trim(), action: null };
  const code = /^[a-z_]\w*\(.*\)$/i.test(line) && !line.includes('\n') ? commandOfCode(line) : null;
  // BrowserGym's calls are its actions: click('227') stays what it is.
  if (code && /^(goto|go_to|take|put|open|close|heat|cool|clean|use)\(/.test(line)) return code;
  return free || (!line.includes('\n') && line.length <= 300) ? { thought: '', action: line } : null;
}

function withThink(thought: string, action: string): AgentAnswer {
  const inner = bare(action, true)!;
  return inner.action === null
    ? { thought: [thought, inner.thought].filter(Boolean).join('\n'), action: null }
    : { thought, action: inner.action };
}

/** `{name, arguments}` of a chat model's tool call, as a command. null when it is none. */
export function toolCommand(call: JsonObject): string | null {
  const target = isJsonObject(call.function) ? call.function : call;
  const name = target.name ?? target.function_name;
  const values = readArguments(target.arguments);
  return typeof name === 'string' && name !== '' && values !== null ? commandOf(name, values) : null;
}
