/**
 * @file An episode as a conversation: the world is the user, the policy the assistant, in the words of ReAct
 * (`Thought:` / `Action:`), which is also what our importers and our own policy read.
 *
 * Tool form says the same with a function `act(action)`, for trainers that run agents through tool calls.
 */
import type { Trajectory } from '../trajectory';

export type ChatMessage =
  | { role: 'user' | 'assistant'; content: string }
  | { role: 'assistant'; content: string; tool_calls: readonly ToolCall[] }
  | { role: 'tool'; name: string; content: string };

interface ToolCall {
  type: 'function';
  function: { name: string; arguments: Readonly<Record<string, string>> };
}

/** What was left out of a data set, and why. */
export interface Dropped {
  where: string;
  why: string;
}

export interface MessageOptions {
  /** An observation as a sentence, given the action before it ('' for the first). Default: the observation itself. */
  sentenceOf?: (observation: string, action: string) => string;
}

export const reactRules =
  'You act in a world of text until your task is done. Every turn you are told what you see, and you answer with one short thought and one action, in this form:\nThought: I should look around first.\nAction: look';

/** The first message of a conversation: rules, task, and what is seen. */
export function openingMessage(task: Pick<Trajectory['task'], 'instruction'>, seen: string): string {
  return `${reactRules}\n\nYour task is to: ${task.instruction}.\n\nObservation: ${seen}`;
}

/** Why an episode cannot be told as a conversation, or null. */
export function untellable({ lost, turns }: Trajectory): string | null {
  if (lost) return 'the episode was lost';
  if (turns.length === 0) return 'it has no turns';
  // The words of a turn that could not be read are kept as tokens only.
  if (turns.some((turn) => turn.action === '')) return 'a turn could not be read as an action';
  return null;
}

/** Ends with the policy's last words: what the world says after the end teaches nobody. */
export function reactMessages(trajectory: Trajectory, { sentenceOf = asIs }: MessageOptions = {}): ChatMessage[] {
  const messages: ChatMessage[] = [
    { role: 'user', content: openingMessage(trajectory.task, sentenceOf(trajectory.firstObservation, '')) },
  ];
  trajectory.turns.forEach(({ thought, action, observation }, i) => {
    messages.push({ role: 'assistant', content: spoken(thought, action) });
    if (i + 1 < trajectory.turns.length)
      messages.push({ role: 'user', content: `Observation: ${sentenceOf(observation, action)}` });
  });
  return messages;
}

function spoken(thought: string, action: string): string {
  return thought === '' ? `Action: ${action}` : `Thought: ${thought}\nAction: ${action}`;
}

export const toolName = 'act';

/** The same with tool calls. */
export function toolMessages(trajectory: Trajectory, { sentenceOf = asIs }: MessageOptions = {}): ChatMessage[] {
  const messages: ChatMessage[] = [
    {
      role: 'user',
      content: `${toolPrompt(trajectory.task)}${sentenceOf(trajectory.firstObservation, '')}`,
    },
  ];
  trajectory.turns.forEach(({ thought, action, observation }, i) => {
    messages.push({
      role: 'assistant',
      content: thought,
      tool_calls: [{ type: 'function', function: { name: toolName, arguments: { action } } }],
    });
    if (i + 1 < trajectory.turns.length)
      messages.push({ role: 'tool', name: toolName, content: sentenceOf(observation, action) });
  });
  return messages;
}

/** Up to where the first observation follows. */
export const toolPrompt = ({ instruction }: Pick<Trajectory['task'], 'instruction'>): string =>
  `You act in a world of text through the tool ${toolName}: one call is one action, and its answer is what you see next. Go on until your task is done.\n\nYour task is to: ${instruction}.\n\n`;

const asIs = (observation: string) => observation;
