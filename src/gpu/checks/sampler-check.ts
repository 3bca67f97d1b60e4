/** @file The sampler with temperature, top-k and top-p at once: token and log-probability of every draw. */
import source from '../../../shaders/sampler.wgsl?raw';
import { type Check, numbers, pcg } from './check';

const [rows, vocab, seed, topK, topP, temperature] = [16, 24, 7, 8, 0.9, 0.8];
const never = 0xffff_ffff;

/** The kept tokens by sorting, not by the kernel's bisection; the draw by the kernel's own random numbers. */
function draw(logits: Float32Array, stream: number, position: number): { token: number; logProb: number } {
  const weight = (i: number) => Math.exp(logits[i] / temperature);
  const ranked = [...logits.keys()].sort((a, b) => logits[b] - logits[a]).slice(0, topK);
  const all = ranked.reduce((total, i) => total + weight(i), 0);
  const kept: number[] = [];
  let mass = 0;
  for (const i of ranked) {
    if (mass >= topP * all) break;
    kept.push(i);
    mass += weight(i);
  }
  kept.sort((a, b) => a - b);
  const uniform = (pcg(pcg(pcg(seed) ^ stream) ^ position) >>> 8) / 2 ** 24;
  let left = uniform * mass;
  let token = kept[kept.length - 1];
  for (const i of kept) {
    left -= weight(i);
    if (left < 0) {
      token = i;
      break;
    }
  }
  const total = logits.reduce((sum, z) => sum + Math.exp(z), 0);
  return { token, logProb: logits[token] - Math.log(total) };
}

export function samplerCheck(): Check {
  const logits = numbers(21, rows * vocab, 3);
  const positions = Array.from({ length: rows }, (_, i) => 3 * i);
  const draws = positions.map((position, i) => draw(logits.subarray(i * vocab, (i + 1) * vocab), 100 + i, position));
  const bits = new Uint32Array(Float32Array.from(draws, (d) => d.logProb).buffer);
  return {
    name: 'sampler',
    source: `fn allowed(row: u32, i: u32) -> bool { return true; }\n${source}`, // as nn/sampler.ts without a mask
    entry: 'sample',
    workgroups: [1],
    u32: [rows, vocab, 0, seed, topK, never, never, never, never],
    f32: [temperature, topP, 0],
    bindings: [
      logits,
      Uint32Array.from(positions.flatMap((position, i) => [i, position])),
      Uint32Array.from(positions.flatMap((_, i) => [100 + i, never, 0, 0])),
      new Uint32Array(rows),
      new Uint32Array(rows * 2),
    ],
    expected: [
      { binding: 4, values: draws.map((d) => d.token) },
      // As integers: a token may not differ at all, a log-probability in its last bits.
      { binding: 5, values: draws.flatMap((d, i) => [d.token, bits[i]]) },
      { binding: 2, values: positions.flatMap((position, i) => [i, position + 1]) },
    ],
    tolerance: 1e-5,
  };
}
