import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  checkMapping,
  gymHttpApi,
  MappedEnvironment,
  type Mapping,
  mappedTask,
  remoteBatch,
} from '../../../src/envs/remote';

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((done) => (server ? server.close(done) : done(null)));
  server = undefined;
});

type Answer = (path: string, body: Record<string, unknown>) => { status?: number; json: unknown };

async function serve(answer: Answer): Promise<{ url: string; seen: [string, unknown][] }> {
  const seen: [string, unknown][] = [];
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (part) => {
      text += part;
    });
    request.on('end', () => {
      const body = text === '' ? {} : JSON.parse(text);
      seen.push([`${request.method} ${request.url}`, body]);
      const { status = 200, json } = answer(request.url ?? '', body);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(typeof json === 'string' ? json : JSON.stringify(json));
    });
  });
  await new Promise<void>((ready) => server!.listen(0, '127.0.0.1', ready));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** gym-http-api's wire format: a cart to push to the right. */
const gym = () => {
  let instances = 0;
  const places = new Map<string, number>();
  return serve((path, body) => {
    if (path === '/v1/envs/') return { json: { instance_id: `abc${instances++}` } };
    const [, id, verb] = /^\/v1\/envs\/(\w+)\/(\w+)\/$/.exec(path) ?? [];
    if (verb === 'reset') {
      places.set(id, 0);
      return { json: { observation: [0] } };
    }
    if (verb === 'step' && places.has(id)) {
      if (typeof body.action !== 'number') return { status: 500, json: { message: 'action must be int' } };
      const place = (places.get(id) ?? 0) + (body.action === 1 ? 1 : -1);
      places.set(id, place);
      return { json: { observation: [place], reward: place === 2 ? 1 : 0, done: place === 2, info: {} } };
    }
    return { json: {} };
  });
};

describe('a server described by a mapping', () => {
  it('plays gym-http-api', async () => {
    const { url, seen } = await gym();
    const mapping = gymHttpApi('Cart-v0');
    const environment = new MappedEnvironment({ url, mapping });
    expect(await environment.reset(mappedTask(mapping, 0))).toBe('[0]');
    expect(await environment.step('1')).toMatchObject({ observation: '[1]', reward: 0, done: false, valid: true });
    expect(await environment.step('1')).toMatchObject({ observation: '[2]', reward: 1, done: true });
    await environment.close();
    expect(seen.map(([path]) => path)).toEqual([
      'POST /v1/envs/',
      'POST /v1/envs/abc0/reset/',
      'POST /v1/envs/abc0/step/',
      'POST /v1/envs/abc0/step/',
      'POST /v1/envs/abc0/close/',
    ]);
    expect(seen[2][1]).toEqual({ action: 1, render: false });
  });

  it('side by side; what the server breaks is lost and begins anew', async () => {
    const { url } = await gym();
    const mapping = gymHttpApi('Cart-v0');
    const batch = remoteBatch(() => new MappedEnvironment({ url, mapping, retries: 0 }), 2);
    const task = mappedTask(mapping, 0);
    await batch.reset([task, task], 0);
    expect(await batch.step(['"left"', '1'])).toMatchObject([{ lost: true, reward: 0 }, { observation: '[1]' }]);
    expect(await batch.reset([task, task], 1)).toEqual(['[0]', '[0]']);
    await batch.close();
  });

  it('fills in what belongs there, escaped, and finds what is nested', async () => {
    const { url, seen } = await serve((path) =>
      path.startsWith('/new')
        ? { json: { session: { key: 'a/b?c' } } }
        : { json: { out: [{ text: 'seen', score: true }], flags: { over: false, cut: path.includes('stop') } } },
    );
    const mapping = checkMapping({
      name: 'mine',
      create: { path: '/new?seed={seed}', id: '$.session.key' },
      reset: { method: 'GET', path: '/s/{id}/start?task={index}', observation: 'out[0].text' },
      step: {
        path: '/s/{id}/do?what={action}',
        body: { list: ['{index}', 'I say: {action}'], '{action}': 1 },
        observation: 'out[0].text',
        reward: 'out[0].score',
        done: ['flags.over', 'flags.cut'],
      },
    });
    const environment = new MappedEnvironment({ url, mapping });
    await environment.reset(mappedTask(mapping, 4, 'x', 9));
    expect(await environment.step('go {id} & "on"')).toMatchObject({ observation: 'seen', reward: 1, done: false });
    expect(await environment.step('stop')).toMatchObject({ done: true });
    expect(seen.slice(0, 3)).toEqual([
      ['POST /new?seed=9', {}],
      ['GET /s/a%2Fb%3Fc/start?task=4', {}],
      [
        'POST /s/a%2Fb%3Fc/do?what=go%20%7Bid%7D%20%26%20%22on%22',
        { list: [4, 'I say: go {id} & "on"'], '{action}': 1 },
      ],
    ]);
  });

  it('an answer that is not as described loses the episode; a description that is wrong is refused', async () => {
    const { url } = await serve((path) => ({ json: path === '/reset' ? { o: 'x' } : { o: 'x', r: 1 } }));
    const step = { path: '/step', observation: 'o', reward: 'r', done: 'd' };
    const good = { name: 'x', reset: { path: '/reset', observation: 'o' }, step };
    const mapping: Mapping = checkMapping(good);
    const environment = new MappedEnvironment({ url, mapping });
    await environment.reset(mappedTask(mapping, 0));
    expect(await environment.step('x')).toMatchObject({ lost: true, reward: 0 });
    expect(environment.lostBecause?.code).toBe('remote-garbage');
    for (const wrong of [
      null,
      {},
      { ...good, extra: 1 },
      { ...good, step: { ...step, reward: '__proto__.x y' } },
      { ...good, reset: { path: '//evil.example/x', observation: 'o' } },
      { ...good, reset: { path: 'http://evil.example/x', observation: 'o' } },
    ])
      expect(() => checkMapping(wrong)).toThrow(expect.objectContaining({ code: 'remote-mapping' }));
  });
});
