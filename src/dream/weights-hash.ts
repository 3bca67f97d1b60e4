/** @file One sha256 over a model's weights: two runs are the same run exactly when these agree. */
import type { ModelState } from '../nn/language-model';

/** Names in alphabetical order, each followed by its numbers (f32, little-endian as on every WebGPU platform). */
export async function weightsHash(weights: ModelState['weights']): Promise<string> {
  const names = [...weights.keys()].sort();
  const encoder = new TextEncoder();
  const parts = names.flatMap((name) => {
    const tensor = weights.get(name)!;
    return [
      encoder.encode(`${name}\n${tensor.length}\n`),
      new Uint8Array(tensor.buffer, tensor.byteOffset, tensor.byteLength),
    ];
  });
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.byteLength;
  }
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
