import { expect, test } from 'vitest';
import { pageFolder } from '../../scripts/build.mjs';
import { limitBytes, pageWeight } from '../../scripts/page-weight.mjs';

test('the page asks for at most 250 kB of gzipped JavaScript', () => {
  const { files, bytes } = pageWeight(pageFolder);
  expect(files.map(({ name }) => name.replace(/-.*/, ''))).toEqual(expect.arrayContaining(['index', 'trainer.worker']));
  expect(bytes, files.map((file) => `${file.name} ${file.bytes}`).join('\n')).toBeLessThanOrEqual(limitBytes);
});
