/** @file What can go wrong with an endpoint, as typed errors. None of them ever holds the key or a server's raw page. */
import { DreamError } from '../../../data/errors';
import { cleanText } from '../answer';

/** A server's own words: as plain text, without the key, short. */
export function quoteServer(text: string, key: string | undefined, limit = 300): string {
  const clean = cleanText(redact(text, key)).replace(/\n/g, ' ');
  return clean.length > limit ? `${clean.slice(0, limit)}…` : clean;
}

/** The key in any spelling a server or a library might echo it in. */
export function redact(text: string, key: string | undefined): string {
  if (!key) return text;
  const spellings = [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)];
  return spellings.reduce((result, spelling) => result.replaceAll(spelling, '[key]'), text);
}

export const invalidAddress = (why: string) =>
  new DreamError(
    'endpoint-address-invalid',
    `This is not the address of an endpoint: ${why}.`,
    'Give the base address, for example http://localhost:11434/v1, without a name or password in it.',
  );

export const invalidKey = (why: string, advice: string) => new DreamError('endpoint-key-invalid', why, advice);

export const unreachable = (address: string, secure: boolean) =>
  new DreamError(
    'endpoint-unreachable',
    `Nothing answered at ${address}.`,
    [
      'Check that the server runs and that the address is right.',
      'A browser also needs its permission (CORS): start the server so that it allows this page’s address as an origin',
      '(Ollama: OLLAMA_ORIGINS; vLLM: --allowed-origins; LM Studio: Enable CORS).',
      ...(secure ? [] : ['A page loaded over https may call plain http only on this very machine (localhost).']),
    ].join(' '),
  );

export const timedOut = (address: string, timeoutMs: number) =>
  new DreamError(
    'endpoint-timeout',
    `${address} gave no whole answer within ${Math.round(timeoutMs / 1000)} s.`,
    'The server is slow or overloaded: lower the number of requests at once, choose a smaller model, or allow more time.',
  );

export const refused = (address: string, status: number) =>
  new DreamError(
    'endpoint-refused',
    `${address} refused the request (${status}).`,
    'Check the key, and that it may use this model. The key is kept only until this page is closed: enter it again.',
  );

export const noQuota = (address: string) =>
  new DreamError(
    'endpoint-refused',
    `${address} says that the account has no quota left.`,
    'Add credit to the account, or choose another endpoint. Waiting does not help.',
  );

export const modelMissing = (address: string, model: string) =>
  new DreamError(
    'endpoint-model-missing',
    `${address} knows no model “${model}”, or no chat completions at this address.`,
    'Check the name of the model (with Ollama: pull it first) and the base address; it usually ends in /v1.',
  );

export const badAnswer = (address: string, why: string) =>
  new DreamError(
    'endpoint-bad-answer',
    `${address} answered, but not with a chat completion: ${why}.`,
    'Check the base address: it must speak the OpenAI chat completions interface.',
  );

export const rejected = (address: string, status: number, message: string) =>
  new DreamError(
    'endpoint-rejected',
    `${address} rejected the request (${status})${message === '' ? '' : `: ${message}`}.`,
    'The server does not accept what this page sends. Choose another model or endpoint.',
  );

export const rateLimited = (address: string, waitMs: number | null) =>
  new DreamError(
    'endpoint-rate-limited',
    `${address} takes no more requests for now${waitMs === null ? '' : `; it asks to wait ${Math.ceil(waitMs / 1000)} s`}.`,
    'Lower the number of requests at once, or go on later: the last finished iteration is kept.',
  );

export const failing = (address: string, status: number) =>
  new DreamError(
    'endpoint-failing',
    `${address} keeps failing (${status}).`,
    'The fault is on the server. Look at its log, or try again later.',
  );
