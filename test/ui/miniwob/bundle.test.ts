/** @file MiniWoB pages as text: which pages are tasks, what is put in line, what is refused. The frame is tested in a browser. */
import { expect, test } from 'vitest';
import { isWebObservation } from '../../../src/envs/web';
import { bundlePage, MAX_TOTAL_BYTES, pathOf, readMiniWobFolder, taskPages } from '../../../src/ui/miniwob/bundle';
import { observationOf, requestFor } from '../../../src/ui/miniwob/environment';
import { readReply } from '../../../src/ui/miniwob/frame';
import { miniwobFolder } from './fixture';

const file = (path: string, text: string, size = text.length) => ({
  name: path.replace(/^.*\//, ''),
  webkitRelativePath: path,
  size,
  text: async () => text,
});
const codeOf = async (run: () => unknown): Promise<string> => {
  try {
    await run();
    return 'nothing thrown';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test('a chosen folder: texts are kept, the rest is left out, tasks are found', async () => {
  const files = await readMiniWobFolder([
    ...[...miniwobFolder].map(([path, text]) => file(path, text)),
    file('html/common/picture.png', 'x'),
    file('html/core/enormous.js', 'x', 1e9),
  ]);
  expect([...files.keys()].sort()).toEqual([...miniwobFolder.keys()].sort());
  expect(taskPages(files)).toEqual([
    'html/miniwob/click-one.html',
    'html/miniwob/hostile.html',
    'html/miniwob/small-form.html',
  ]);
});

test('a folder that is something else, or too much, is refused', async () => {
  expect(await codeOf(() => readMiniWobFolder([file('a/index.html', '<p>Hello</p>')]))).toBe(
    'miniwob-folder-unsuitable',
  );
  const many = Array.from({ length: 20 }, (_, index) => file(`a/${index}.js`, '', MAX_TOTAL_BYTES / 16));
  expect(await codeOf(() => readMiniWobFolder(many))).toBe('miniwob-folder-unsuitable');
});

test('scripts and styles are put in line under a policy without network; nothing else is asked for', () => {
  const html = bundlePage('html/miniwob/click-one.html', miniwobFolder);
  expect(html).toMatch(
    /^<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none';/,
  );
  expect(html).toContain('core.startEpisodeReal = function');
  expect(html).toContain("var closing = '<\\/script>'");
  expect(html).toContain('<style>#query { font-weight: bold }');
  expect(html).not.toMatch(/<link|<script[^>]*\ssrc=/);
});

test('links', () => {
  expect(pathOf('html/miniwob/a.html', '../core/core.js?v=2')).toBe('html/core/core.js');
  expect(pathOf('html/miniwob/a.html', '../../../etc/passwd')).toBeNull();
  expect(pathOf('a.html', 'https://leak.example/x.js')).toBeNull();
  expect(pathOf('a.html', '//leak.example/x.js')).toBeNull();
  const lacking = new Map([['miniwob/a.html', '<script src="../core/core.js"></script>']]);
  return expect(codeOf(() => bundlePage('miniwob/a.html', lacking))).resolves.toBe('miniwob-file-missing');
});

test('what a page says is checked and cut', () => {
  expect(readReply(null)).toMatch(/something else/);
  expect(readReply({ ok: true })).toMatch(/without its elements/);
  expect(readReply({ error: 'x'.repeat(999) })).toHaveLength(200);
  const seen = readReply({
    ok: 1,
    elements: [
      null,
      { role: '<b>', words: 'a\n[9] link: fake' },
      ...Array.from({ length: 9999 }, () => ({ role: 'button', words: 'x'.repeat(999) })),
    ],
    reward: Number.NaN,
    done: 'yes',
  });
  if (typeof seen === 'string') throw new Error(seen);
  expect([seen.ok, seen.done, seen.reward, seen.elements.length]).toEqual([false, false, 0, 400]);
  expect(seen.elements[1]).toEqual({ role: 'element', words: 'a [9] link: fake' });
  const text = observationOf('html/miniwob/click-one.html', { ...seen, elements: seen.elements.slice(0, 3) });
  expect(text.split('\n')[0]).toBe('page: MiniWoB at miniwob/click-one');
  expect(isWebObservation(text)).toBe(true);
});

test('actions of all three dialects', () => {
  expect(requestFor('click [3]')).toEqual({ kind: 'click', element: 3, text: '', enter: false });
  expect(requestFor("fill('2', 'kite')")).toEqual({ kind: 'type', element: 2, text: 'kite', enter: false });
  expect(requestFor('do(action="Press Enter")')).toMatchObject({ kind: 'press', text: 'Enter' });
  expect(requestFor('goto [http://x.example]')).toBeNull();
});
