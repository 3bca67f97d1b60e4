/** @file The errors of this format: each names the file, and the tensor or key where there is one. */
import { DreamError } from '../../data/errors';

export function badGguf(file: string, what: string): DreamError {
  return new DreamError(
    'bad-gguf',
    `"${file}" is not a usable GGUF file: ${what}.`,
    'The file is damaged, cut short or of another kind; get it again.',
  );
}

export function unsupportedArchitecture(file: string, architecture: string, why: string): DreamError {
  return new DreamError(
    'unsupported-architecture',
    `"${file}" holds a model of architecture "${architecture}": ${why}.`,
    'Use a Llama, SmolLM2, SmolLM3, Qwen2, Qwen2.5 or Qwen3 model (dense, with plain or Llama 3 rotary positions).',
  );
}
