/** @file The chat completions interface on the wire: what is sent, and reading what comes back without trusting it. */
import { isJsonObject } from '../../../data/json-object';
import { cutAtStop, type TextCompletion, type TextRequest, type TextToken } from '../text-model';

/** Parameters that some servers refuse; they are left out once a server has said so. */
export const optionalParameters = ['seed', 'logprobs', 'stop', 'temperature', 'max_tokens'] as const;
export type OptionalParameter = (typeof optionalParameters)[number];

export function requestBody(
  model: string,
  request: TextRequest,
  logProbabilities: boolean,
  refused: ReadonlySet<OptionalParameter>,
): string {
  const { messages, maxTokens, temperature, seed, stop } = request;
  const body: Record<string, unknown> = { model, messages, stream: false };
  // Newer models of OpenAI know only the longer name.
  body[refused.has('max_tokens') ? 'max_completion_tokens' : 'max_tokens'] = maxTokens;
  if (!refused.has('temperature')) body.temperature = temperature;
  if (seed !== undefined && !refused.has('seed')) body.seed = seed & 0x7fff_ffff;
  // The interface allows four; the rest is cut here.
  if (stop?.length && !refused.has('stop')) body.stop = stop.slice(0, 4);
  if (logProbabilities && !refused.has('logprobs')) body.logprobs = true;
  return JSON.stringify(body);
}

/** The completion, or what is wrong with it as a string. */
export function readCompletion(body: unknown, request: TextRequest): TextCompletion | string {
  if (!isJsonObject(body)) return 'no JSON object';
  const choice = Array.isArray(body.choices) ? body.choices[0] : undefined;
  if (!isJsonObject(choice)) return 'no choices';
  if (!isJsonObject(choice.message)) return 'no message';
  const said = textOf(choice.message.content);
  const filtered = choice.finish_reason === 'content_filter' || typeof choice.message.refusal === 'string';
  if (said === null && !filtered) return 'no text';
  const { text, cut } = cutAtStop(said ?? '', request.stop);
  const tokens = tokensOf(choice.logprobs);
  const usage = isJsonObject(body.usage) ? body.usage.completion_tokens : undefined;
  return {
    text,
    finishReason: filtered ? 'filtered' : choice.finish_reason === 'length' && !cut ? 'length' : 'stop',
    ...(tokens ? { tokens } : {}),
    ...(typeof usage === 'number' && Number.isFinite(usage) ? { generatedTokens: usage } : {}),
  };
}

/** Text, or text parts. An answer of tool calls or of reasoning alone has none: null content with a reason is empty text. */
function textOf(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (content === null) return '';
  if (!Array.isArray(content)) return null;
  return content.map((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : '')).join('');
}

function tokensOf(logprobs: unknown): TextToken[] | null {
  if (!isJsonObject(logprobs) || !Array.isArray(logprobs.content)) return null;
  const tokens: TextToken[] = [];
  for (const entry of logprobs.content) {
    if (!isJsonObject(entry) || typeof entry.token !== 'string' || typeof entry.logprob !== 'number') return null;
    tokens.push({ text: entry.token, logProb: entry.logprob });
  }
  return tokens;
}

export interface ServerError {
  message: string;
  code: string;
  parameter: string;
  /** OpenRouter and others send an error with status 200. */
  status: number | null;
}

/** The error in an answer, in the several shapes servers give it; null when there is none. */
export function readError(body: unknown): ServerError | null {
  if (!isJsonObject(body)) return null;
  const error = isJsonObject(body.error) ? body.error : body;
  const message = [body.error, error.message, body.detail].find((part) => typeof part === 'string');
  if (message === undefined && !isJsonObject(body.error)) return null;
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return {
    message: text(message),
    code: text(error.code) || text(error.type),
    parameter: text(error.param),
    status: typeof error.code === 'number' ? error.code : null,
  };
}

export const isContextOverflow = ({ code, message }: ServerError) =>
  code === 'context_length_exceeded' ||
  code === 'exceed_context_size_error' ||
  /context (length|window|size)|maximum context|prompt is too long|too many tokens/i.test(message);

/** The parameter that the server names as the one it will not have. */
export function unsupportedParameter({ parameter, message }: ServerError): OptionalParameter | null {
  const named = optionalParameters.find(
    (name) => name === parameter || (name === 'logprobs' && parameter === 'top_logprobs'),
  );
  if (named) return named;
  if (!/unsupported|not supported|unknown|unrecogni[sz]ed|unexpected|not permitted|extra/i.test(message)) return null;
  return optionalParameters.find((name) => new RegExp(`\\b${name}\\b`).test(message)) ?? null;
}
