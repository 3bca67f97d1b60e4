/**
 * Writes a JSONL file of household conversations of any size, to measure an import:
 * `node scripts/generate-trajectories.mjs FILE MEGABYTES`. Deterministic.
 */

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

const [path, megabytes] = process.argv.slice(2);
const limit = Number(megabytes) * 2 ** 20;
if (!path || !(limit > 0)) {
  console.error('Usage: node scripts/generate-trajectories.mjs FILE MEGABYTES');
  process.exit(2);
}

const kinds = ['shelf', 'cabinet', 'drawer', 'desk'];
const things = ['cup', 'mug', 'book', 'apple', 'pen'];

/**
 * One episode: `n` decides everything in it.
 * @param {number} n
 */
function episode(n) {
  const thing = `${things[n % things.length]} 1`;
  const messages = [
    { role: 'system', content: 'Act in the household. Answer with a thought and an action.' },
    {
      role: 'user',
      content: `You are in the middle of a room. Looking quickly around you, you see a cabinet ${n}, a desk 1, a drawer 1, and a shelf 1.\nYour task is to: put a ${thing.split(' ')[0]} in desk.`,
    },
  ];
  for (let i = 0; i < 12; i++) {
    const place = `${kinds[(n + i) % kinds.length]} ${1 + ((n * 7 + i) % 9)}`;
    messages.push(
      {
        role: 'assistant',
        content: `Thought: The ${thing} may be at ${place}; I have not looked there yet.\nAction: go to ${place}`,
      },
      {
        role: 'user',
        content: `Observation: On the ${place}, you see a ${things[(n + i) % 5]} ${1 + (i % 3)}, and a plate 1.`,
      },
    );
  }
  messages.push({ role: 'assistant', content: `Thought: Done.\nAction: put ${thing} in/on desk 1` });
  messages.push({ role: 'user', content: `Observation: You put the ${thing} in/on the desk 1.` });
  return `${JSON.stringify({ id: `episode-${n}`, messages, reward: n % 2 })}\n`;
}

const stream = createWriteStream(path);
let written = 0;
let block = '';
for (let n = 0; written < limit; n++) {
  block += episode(n);
  if (block.length < 2 ** 20) continue;
  written += block.length;
  if (!stream.write(block)) await once(stream, 'drain');
  block = '';
}
stream.end(block);
await once(stream, 'close');
