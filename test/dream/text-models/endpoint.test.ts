import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { endpointAddress } from '../../../src/dream/text-models/endpoint/address';
import { type EndpointOptions, endpointTextModel } from '../../../src/dream/text-models/endpoint/model';
import { backOffMs, retryAfterMs } from '../../../src/dream/text-models/endpoint/pace';
import type { TextRequest } from '../../../src/dream/text-models/text-model';

const key = 'sk-very-secret-0123456789';
const request = (content = 'hello', more: Partial<TextRequest> = {}): TextRequest => ({
  messages: [{ role: 'user', content }],
  maxTokens: 16,
  temperature: 0.7,
  ...more,
});
const said = (content: unknown, more = {}) => ({
  choices: [{ message: { content }, finish_reason: 'stop', ...more }],
  usage: { completion_tokens: 3 },
});

interface Seen {
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
}
type Answer = (seen: Seen, response: ServerResponse, nth: number) => void;

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A server that answers the nth request with the nth answer, and the last one for ever. */
async function serve(...answers: Answer[]) {
  const seen: Seen[] = [];
  server = createServer((incoming, response) => {
    let text = '';
    incoming.on('data', (part) => {
      text += part;
    });
    incoming.on('end', () => {
      const one = { path: incoming.url ?? '', headers: incoming.headers, body: JSON.parse(text) as Seen['body'] };
      seen.push(one);
      answers[Math.min(seen.length, answers.length) - 1](one, response, seen.length);
    });
  });
  await new Promise<void>((ready) => server!.listen(0, '127.0.0.1', ready));
  return { seen, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const reply =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
const fine = reply(200, said('hi'));

function open(baseUrl: string, options: Partial<EndpointOptions> = {}) {
  const waits: number[] = [];
  const model = endpointTextModel({
    baseUrl,
    model: 'tiny',
    key,
    random: () => 0.5,
    wait: async (ms, signal) => {
      signal.throwIfAborted();
      waits.push(ms);
      await new Promise((resolve) => setTimeout(resolve, 1));
    },
    ...options,
  });
  return { model, waits };
}

async function failure(work: Promise<unknown>): Promise<{ code: string; message: string; advice: string }> {
  try {
    await work;
  } catch (error) {
    // Nothing that is thrown may lead to the key, however deep one looks.
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(key);
    return error as { code: string; message: string; advice: string };
  }
  throw new Error('it should have failed');
}

describe('an endpoint', () => {
  it('is asked as the interface says, and answers in order', async () => {
    const { seen, baseUrl } = await serve((one, response, nth) =>
      reply(200, said(`to ${(one.body.messages as { content: string }[])[0].content}`))(one, response, nth),
    );
    const { model } = open(baseUrl);
    const answers = await model.complete([
      request('a', { seed: 0xffff_ffff, stop: ['END'] }),
      request('b'),
      request('c'),
    ]);
    expect(answers).toEqual(
      ['a', 'b', 'c'].map((name) => ({ text: `to ${name}`, finishReason: 'stop', generatedTokens: 3 })),
    );
    expect(seen[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: {
        model: 'tiny',
        messages: [{ role: 'user', content: 'a' }],
        max_tokens: 16,
        temperature: 0.7,
        seed: 0x7fff_ffff,
        stop: ['END'],
        stream: false,
      },
    });
    expect(seen[1].body).not.toHaveProperty('seed');
  });

  it('has no more requests under way than allowed', async () => {
    let open_ = 0;
    let most = 0;
    const { baseUrl } = await serve((one, response, nth) => {
      most = Math.max(most, ++open_);
      setTimeout(() => {
        open_--;
        fine(one, response, nth);
      }, 5);
    });
    const { model } = open(baseUrl, { concurrency: 3 });
    expect(await model.complete(Array.from({ length: 12 }, () => request()))).toHaveLength(12);
    expect(most).toBe(3);
  });

  it('waits as long as a 429 asks, all requests together', async () => {
    const { seen, baseUrl } = await serve(
      reply(429, { error: { message: 'slow down' } }, { 'retry-after': '2' }),
      fine,
    );
    const { model, waits } = open(baseUrl, { concurrency: 1 });
    expect(await model.complete([request(), request()])).toHaveLength(2);
    expect(seen).toHaveLength(3);
    expect(waits[0]).toBe(2000);
    expect(Math.max(...waits.slice(1))).toBeGreaterThan(1500);
  });

  it('backs off after 5xx and gives up with the right error', async () => {
    const { seen, baseUrl } = await serve(reply(503, 'busy'), reply(500, '<html>'), fine);
    const { model, waits } = open(baseUrl);
    expect((await model.complete([request()]))[0].text).toBe('hi');
    expect(seen).toHaveLength(3);
    expect(waits).toEqual([375, 750]);

    const broken = await serve(reply(500, { error: { message: key } }));
    const error = await failure(open(broken.baseUrl, { maxRetries: 2 }).model.complete([request()]));
    expect(error.code).toBe('endpoint-failing');
    expect(broken.seen).toHaveLength(3);
  });

  it('does not wait for a server that asks for an hour', async () => {
    const { seen, baseUrl } = await serve(reply(429, {}, { 'retry-after': '3600' }));
    const error = await failure(open(baseUrl).model.complete([request()]));
    expect(error).toMatchObject({ code: 'endpoint-rate-limited', message: expect.stringContaining('3600 s') });
    expect(seen).toHaveLength(1);
  });

  it.each([
    [401, { error: { message: `Incorrect API key provided: ${key}` } }, 'endpoint-refused', 1],
    [403, 'no', 'endpoint-refused', 1],
    [404, { error: { message: 'model not found' } }, 'endpoint-model-missing', 1],
    [400, { error: { code: 'model_not_found' } }, 'endpoint-model-missing', 1],
    [429, { error: { code: 'insufficient_quota' } }, 'endpoint-refused', 1],
    [400, { error: { message: `you sent ${key} and <b>more</b>` } }, 'endpoint-rejected', 1],
    [200, '<html>a page</html>', 'endpoint-bad-answer', 2],
    [200, { choices: [] }, 'endpoint-bad-answer', 2],
    [200, { choices: [{ message: { content: 5 } }] }, 'endpoint-bad-answer', 2],
    [200, { error: { code: 401, message: 'no' } }, 'endpoint-refused', 1],
  ])('%i %j -> %s', async (status, body, code, attempts) => {
    const { seen, baseUrl } = await serve(reply(status, body));
    const { model } = open(baseUrl);
    const error = await failure(model.complete([request()]));
    expect(error.code).toBe(code);
    expect(error.advice).not.toBe('');
    expect(seen).toHaveLength(attempts);
  });

  it('reads no more than it must of an endless answer', async () => {
    const { baseUrl } = await serve((_, response) => {
      response.writeHead(200);
      const pour = () => {
        while (response.writable && response.write('x'.repeat(65_536)));
      };
      response.on('drain', pour);
      pour();
    });
    const error = await failure(open(baseUrl, { maxRetries: 0 }).model.complete([request()]));
    expect(error).toMatchObject({ code: 'endpoint-bad-answer', message: expect.stringContaining('too long') });
  });

  it('is not waited for longer than allowed', async () => {
    const { baseUrl } = await serve(() => {});
    let calls = 0;
    const fetch: typeof globalThis.fetch = (...request) => {
      calls++;
      return globalThis.fetch(...request);
    };
    const error = await failure(open(baseUrl, { timeoutMs: 40, maxRetries: 3, fetch }).model.complete([request()]));
    expect(error.code).toBe('endpoint-timeout');
    expect(calls).toBe(2);
  });

  it('that is not there gets advice on CORS, soon', async () => {
    const { baseUrl } = await serve(fine);
    server!.close();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const { model, waits } = open(baseUrl);
    const error = await failure(model.complete([request()]));
    expect(error).toMatchObject({ code: 'endpoint-unreachable', advice: expect.stringContaining('CORS') });
    expect(waits).toHaveLength(1);
  });

  it('that breaks off after it once answered is tried again', async () => {
    const cut: Answer = (_, response) => response.destroy();
    const { seen, baseUrl } = await serve(fine, cut, cut, cut, fine);
    const { model } = open(baseUrl);
    await model.complete([request()]);
    expect((await model.complete([request()]))[0].text).toBe('hi');
    expect(seen).toHaveLength(5);
  });

  it('can be aborted by its caller and by disposal, while it answers and while it waits', async () => {
    const { baseUrl } = await serve(() => {});
    const { model } = open(baseUrl);
    const controller = new AbortController();
    const reason = new Error('enough');
    const running = model.complete([request(), request()], controller.signal);
    setTimeout(() => controller.abort(reason), 20);
    await expect(running).rejects.toBe(reason);
    const other = model.complete([request()]);
    setTimeout(() => model.dispose(), 20);
    await expect(other).rejects.toMatchObject({ name: 'AbortError' });

    const limited = await serve(reply(429, {}, { 'retry-after': '60' }));
    const patient = endpointTextModel({ baseUrl: limited.baseUrl, model: 'tiny', key });
    const waiting = patient.complete([request(), request()], AbortSignal.timeout(80));
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  it('one failure ends the batch', async () => {
    const { seen, baseUrl } = await serve(reply(401, {}), fine);
    const { model } = open(baseUrl, { concurrency: 1 });
    await failure(model.complete(Array.from({ length: 20 }, () => request())));
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(seen.length).toBeLessThanOrEqual(2);
  });

  it('may refuse parameters: they are left out from then on', async () => {
    const { seen, baseUrl } = await serve((one, response, nth) => {
      if ('max_tokens' in one.body)
        return reply(400, { error: { message: "Unsupported parameter: 'max_tokens'", param: 'max_tokens' } })(
          one,
          response,
          nth,
        );
      if ('seed' in one.body) return reply(400, { detail: 'seed: extra fields not permitted' })(one, response, nth);
      fine(one, response, nth);
    });
    const { model } = open(baseUrl, { concurrency: 1 });
    await model.complete([request('a', { seed: 1 }), request('b', { seed: 2 })]);
    expect(seen).toHaveLength(4);
    expect(seen[3].body).toMatchObject({ max_completion_tokens: 16 });
    expect(model.limits.reason).toContain('seed');
  });

  it('a prompt that does not fit is that prompt’s failure alone', async () => {
    const { baseUrl } = await serve((one, response, nth) =>
      JSON.stringify(one.body).includes('long')
        ? reply(400, { error: { code: 'context_length_exceeded', message: 'maximum context' } })(one, response, nth)
        : fine(one, response, nth),
    );
    const [long, short] = await open(baseUrl).model.complete([request('long'), request('short')]);
    expect(long).toEqual({ text: '', finishReason: 'length' });
    expect(short.text).toBe('hi');
  });

  it('returns log-probabilities where the server does, and says so where it does not', async () => {
    const content = [{ token: 'hi', logprob: -0.5 }];
    const { seen, baseUrl } = await serve(reply(200, said('hi', { logprobs: { content } })), fine);
    const { model } = open(baseUrl, { logProbabilities: true });
    expect((await model.complete([request()]))[0].tokens).toEqual([{ text: 'hi', logProb: -0.5 }]);
    expect(seen[0].body.logprobs).toBe(true);
    expect(model.limits.logProbabilities).toBe(true);
    await model.complete([request()]);
    expect(model.limits).toMatchObject({ logProbabilities: false, training: false });
  });

  it('cuts at stop strings, joins parts, and tells why an answer ended', async () => {
    const { baseUrl } = await serve(
      reply(
        200,
        said([
          { type: 'text', text: 'one ' },
          { type: 'text', text: 'two END three' },
        ]),
      ),
      reply(200, said('half', { finish_reason: 'length' })),
      reply(200, said(null, { finish_reason: 'content_filter' })),
    );
    const { model } = open(baseUrl);
    const ask = async (stop?: string[]) => (await model.complete([request('x', { stop })]))[0];
    expect(await ask(['END', '!'])).toMatchObject({ text: 'one two ', finishReason: 'stop' });
    expect(await ask()).toMatchObject({ text: 'half', finishReason: 'length' });
    expect(await ask()).toMatchObject({ text: '', finishReason: 'filtered' });
  });
});

describe('the key', () => {
  it('is in no copy, listing or description of the model', async () => {
    const { baseUrl } = await serve(fine);
    const { model } = open(baseUrl);
    await model.complete([request()]);
    expect(JSON.stringify({ model })).toBe(JSON.stringify({ model: { kind: 'endpoint', label: model.label } }));
    expect(inspect(model, { depth: 10, showHidden: true })).not.toContain(key);
    expect(JSON.stringify(model.limits) + model.label).not.toContain(key);
  });

  it('is not quoted by an error of fetch that quotes the request', async () => {
    const fetch = async (_: unknown, init?: RequestInit) => {
      throw new TypeError(`failed with ${JSON.stringify(init?.headers)}`);
    };
    const error = await failure(
      open('http://localhost', { fetch: fetch as typeof globalThis.fetch }).model.complete([request()]),
    );
    expect(error.code).toBe('endpoint-unreachable');
  });

  it.each([
    ['with a line feed in it', 'http://localhost', 'secret\nx-header: 1'],
    ['over plain http to another network', 'http://example.org', 'secret'],
  ])('is refused %s', (_, baseUrl, bad) => {
    try {
      endpointTextModel({ baseUrl, model: 'm', key: bad });
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: 'endpoint-key-invalid' });
      expect(inspect(error)).not.toContain(bad.slice(0, 6));
    }
  });

  it('may be absent, and may stay in the local network', async () => {
    const { seen, baseUrl } = await serve(fine);
    await open(baseUrl, { key: ' ' }).model.complete([request()]);
    expect(seen[0].headers.authorization).toBeUndefined();
    for (const host of ['192.168.1.4:8000', 'gpu-box:11434', '[::1]:80', 'box.local'])
      expect(() => endpointTextModel({ baseUrl: `http://${host}`, model: 'm', key })).not.toThrow();
  });
});

describe('addresses', () => {
  it.each([
    ['http://localhost:11434', 'http://localhost:11434/v1/chat/completions'],
    ['http://localhost:11434/v1/', 'http://localhost:11434/v1/chat/completions'],
    ['https://host.example/api/v1', 'https://host.example/api/v1/chat/completions'],
    ['https://host.example/v1beta/openai', 'https://host.example/v1beta/openai/chat/completions'],
    [' https://host.example/v1/chat/completions ', 'https://host.example/v1/chat/completions'],
  ])('%j', (text, url) => expect(endpointAddress(text).url).toBe(url));

  it.each([
    '',
    'localhost',
    'ftp://host/v1',
    'javascript:alert(1)',
    'https://me:secret@host/v1',
    'https://host/v1?key=secret',
  ])('refuses %j', (text) => {
    try {
      endpointAddress(text);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: 'endpoint-address-invalid' });
      expect(String(error)).not.toContain('secret');
    }
  });
});

describe('pauses', () => {
  it('grow, are half random, and have a ceiling', () => {
    expect([0, 1, 2].map((n) => backOffMs(n, () => 0))).toEqual([250, 500, 1000]);
    expect([0, 1, 2].map((n) => backOffMs(n, () => 1))).toEqual([500, 1000, 2000]);
    expect(backOffMs(50, () => 1)).toBe(30_000);
  });

  it('are read from seconds, dates and milliseconds', () => {
    const now = Date.parse('2026-01-01T00:00:00Z');
    const ask = (headers: Record<string, string>) => retryAfterMs(new Headers(headers), now);
    expect(ask({ 'retry-after': '3' })).toBe(3000);
    expect(ask({ 'retry-after': 'Thu, 01 Jan 2026 00:00:10 GMT' })).toBe(10_000);
    expect(ask({ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' })).toBe(0);
    expect(ask({ 'retry-after-ms': '150', 'retry-after': '9' })).toBe(150);
    expect(ask({ 'retry-after': 'soon' })).toBeNull();
    expect(ask({})).toBeNull();
  });
});
