import { spawn } from 'node:child_process';
import { describe, expect, test } from 'vitest';

/** Runs a script of the project to its end, or until its stdout satisfies `enough`. */
function script(name: string, args: string[], enough: (stdout: string) => boolean = () => false) {
  return new Promise<{ code: number | null; stdout: string; stderr: string; stop(): void }>((done) => {
    const child = spawn(process.execPath, [`scripts/${name}.mjs`, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    const finish = (code: number | null) => done({ code, stdout, stderr, stop: () => child.kill() });
    child.stderr.on('data', (data) => {
      stderr += data;
    });
    child.stdout.on('data', (data) => {
      stdout += data;
      if (enough(stdout)) finish(null);
    });
    child.on('close', finish);
  });
}

describe('npm start', () => {
  test('serves the page and says where and what else can be done', async () => {
    const started = await script('start', ['--no-open', '--port', '0'], (text) => text.includes('train --preset'));
    try {
      expect(started.stdout, started.stderr).toContain('DreamGym is at');
      const url = /http:\/\/127\.0\.0\.1:\d+\//.exec(started.stdout)?.[0] ?? '';
      const page = await fetch(url);
      expect(page.status).toBe(200);
      const html = await page.text();
      expect(html).toContain('<title>DreamGym');
      const asset = /src="\.\/([^"]+\.js)"/.exec(html)?.[1] ?? '';
      expect((await fetch(url + asset)).headers.get('content-type')).toContain('javascript');
    } finally {
      started.stop();
    }
  });

  test('an impossible port is refused with advice', async () => {
    const { code, stderr } = await script('start', ['--port', '99999']);
    expect(code).toBe(1);
    expect(stderr).toContain('give 0 to 65535');
  });
});

describe('npm run dream', () => {
  test('stdout carries the result and nothing else', async () => {
    const { code, stdout } = await script('dream', ['doctor', '--json']);
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(stdout).selfTests.length).toBeGreaterThanOrEqual(10);
  });

  test('a broken kernel has the device refused', async () => {
    const listed = JSON.parse((await script('dream', ['doctor', '--json'])).stdout);
    const { code, stdout, stderr } = await script('dream', [
      'doctor',
      '--json',
      '--break-kernel',
      listed.selfTests[0].name,
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain('This device is refused');
    expect(JSON.parse(stdout).selfTests[0].ok).toBe(false);
  });

  test('a wrong word ends with 2', async () => {
    const { code, stdout } = await script('dream', ['trian', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout).error.advice).toContain('train');
  });
});
