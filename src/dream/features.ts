/**
 * @file phi(state, action): a hashed bag of words and word pairs as a unit vector (feature hashing, Weinberger 2009).
 *
 * The paper asks for "an arbitrary semantic encoder". The worlds' text is so regular that word overlap orders memories
 * well, costs nothing, and is the same on every device, which a forward pass of a model is not.
 */
import { hashText } from './random';

export const featureDimension = 128;

/** Adds the features of `text` to `vector`, each word and each pair of neighbours with a hashed sign. */
function addText(vector: Float32Array, text: string, weight: number): void {
  const words = text.split(/\s+/).filter((word) => word !== '');
  words.forEach((word, i) => {
    // The pair keeps an instance together: `cup 1` is not `cup 2`.
    const keys = i + 1 < words.length ? [word, `${word} ${words[i + 1]}`] : [word];
    for (const key of keys) {
      const h = hashText(key);
      vector[h % vector.length] += h & 0x8000_0000 ? -weight : weight;
    }
  });
}

/** Unit vector [dimension]; all zeros when there is no text. The action counts double: it decides what happens. */
export function transitionFeatures(state: string, action: string, dimension = featureDimension): Float32Array {
  const vector = new Float32Array(dimension);
  addText(vector, state, 1);
  addText(vector, action, 2);
  let norm = 0;
  for (const x of vector) norm += x * x;
  if (norm > 0) {
    const scale = 1 / Math.sqrt(norm);
    for (let i = 0; i < dimension; i++) vector[i] *= scale;
  }
  return vector;
}
