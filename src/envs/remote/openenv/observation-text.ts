/** @file The words of an observation: OpenEnv leaves its shape to each environment, so well-known fields come first. */
import { isJsonObject } from '../../../data/json-object';
import { plainText } from '../plain-values';

/** In order of preference; TextArena has `prompt` and `messages`, BrowserGym `axtree_txt` and `text`. */
const textFields = [
  'axtree_txt',
  'text',
  'prompt',
  'observation',
  'message',
  'content',
  'result',
  'response',
  'output',
];

const recentMessages = 20;

/** The text of an observation; compact JSON where no field is known. */
export function observationText(observation: unknown): string {
  if (!isJsonObject(observation)) return plainText(observation);
  const parts: string[] = [];
  for (const field of textFields) {
    const value = observation[field];
    if (typeof value === 'string' && value !== '') {
      parts.push(value);
      break;
    }
  }
  const { messages } = observation;
  if (Array.isArray(messages)) {
    for (const message of messages.slice(-recentMessages))
      if (isJsonObject(message) && typeof message.content === 'string') parts.push(message.content);
  }
  const problem = observation.last_action_error === true ? observation.error : '';
  if (typeof problem === 'string' && problem !== '') parts.push(`Error: ${problem}`);
  return parts.length > 0 ? plainText(parts.join('\n')) : plainText(observation);
}
