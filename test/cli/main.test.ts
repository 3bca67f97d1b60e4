import { describe, expect, test } from 'vitest';
import { inTerminal } from './terminal';

const dream = (...argv: string[]) => inTerminal(argv, { folder: '/elsewhere', root: '/project' });

describe('main', () => {
  test('--help lists every command', async () => {
    const { code, out, err } = await dream('--help');
    expect(code).toBe(0);
    for (const name of ['train', 'eval', 'experience', 'pretrain', 'bench', 'doctor', 'env'])
      expect(out).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(err).toBe('');
  });

  test.each(['train', 'eval', 'pretrain', 'bench', 'doctor', 'env'])('%s --help explains the command', async (name) => {
    const { code, out } = await dream(name, '--help');
    expect(code).toBe(0);
    expect(out).toContain(name);
  });

  test.each([
    [[], 'no-command'],
    [['trian'], 'unknown-command'],
    [['constructor'], 'unknown-command'],
    [['doctor', '--brake-kernel', 'x'], 'bad-option'],
    [['env'], 'unknown-command'],
    [['env', 'play', '--size', 'vast'], 'bad-value'],
    [['experience', '--transitions', '500,many'], 'bad-value'],
    [['experience', '--transitions', '10'], 'bad-value'],
    [['eval', '--plan', '99'], 'bad-value'],
    [['train', '--task-selection', 'best'], 'bad-value'],
  ])('%j ends with 2, advice on stderr and one JSON line on stdout', async (argv, code) => {
    const plain = await dream(...argv);
    expect(plain.code).toBe(2);
    expect(plain.out).toBe('');
    expect(plain.err.trim().split('\n').length).toBeGreaterThan(1);

    const json = await dream(...argv, '--json');
    expect(json.code).toBe(2);
    expect(json.out.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(json.out).error).toMatchObject({ code, message: expect.any(String), advice: expect.any(String) });
  });

  test('a slip of the pen is met with the right word', async () => {
    expect((await dream('trian')).err).toContain('Did you mean "train"?');
    expect((await dream('doctor', '--brake-kernel', 'x')).err).toContain('--break-kernel');
  });
});
