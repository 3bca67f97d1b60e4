/** @file The server that writes reasoning for others to learn from, as options of the terminal. */
import type { OptionSpecs } from './options';
import { UsageError } from './options';

export const reflectorOptions = {
  endpoint: {
    type: 'string',
    value: 'URL',
    help: 'an OpenAI-compatible server that writes the reasoning; its key in DREAM_ENDPOINT_KEY',
  },
  'endpoint-model': { type: 'string', value: 'NAME', help: 'the model to ask it for' },
} as const satisfies OptionSpecs;

/** Null without either. Throws UsageError `bad-option` for one without the other. */
export function givenReflector(values: {
  endpoint?: string;
  'endpoint-model'?: string;
}): { baseUrl: string; model: string } | null {
  const { endpoint: baseUrl, 'endpoint-model': model } = values;
  if (baseUrl !== undefined && model !== undefined) return { baseUrl, model };
  if (baseUrl === undefined && model === undefined) return null;
  throw new UsageError('bad-option', '--endpoint and --endpoint-model belong together.', 'Give both, or neither.');
}
