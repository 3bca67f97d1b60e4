import { expect, test } from 'vitest';
import { backportsEntry } from '../../scripts/debian.mjs';

test('a deb822 stanza keeps its mirror and key', () => {
  const sources = `Types: deb
URIs: http://mirror.test/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.test/debian-security
Suites: bookworm-security
Components: main
`;
  expect(backportsEntry(sources, 'bookworm')).toEqual({
    extension: '.sources',
    text: `Types: deb
URIs: http://mirror.test/debian
Suites: bookworm-backports
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
`,
  });
});

test('a one-line entry keeps its mirror and options', () => {
  const sources = `# a comment
deb http://mirror.test/debian-security bookworm-security main
deb [signed-by=/key.gpg] http://mirror.test/debian bookworm main contrib
`;
  expect(backportsEntry(sources, 'bookworm')).toEqual({
    extension: '.list',
    text: 'deb [signed-by=/key.gpg] http://mirror.test/debian bookworm-backports main contrib\n',
  });
});

test('a file without the release gives nothing', () => {
  expect(backportsEntry('deb http://mirror.test/other stable main\n', 'bookworm')).toBeNull();
  expect(backportsEntry('', 'bookworm')).toBeNull();
});
