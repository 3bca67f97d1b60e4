/** @file A real model from a file or folder on disk, with its tokenizer, for the terminal's commands. */
import { DreamError } from '../data/errors';
import type { Gpu } from '../gpu/device';
import { type LoraAdapter, readPeft } from '../models/adapters';
import { type LoadOptions, loadModel } from '../models/load-model';
import { openModelFiles } from '../models/open-model-files';
import { TextTokenizer } from '../models/text-tokenizer';
import type { WeightSource } from '../models/weights';
import type { DecoderConfig } from '../nn/config';
import type { DecoderModel } from '../nn/decoder-model';
import { precisionChoices } from '../nn/precision';
import type { CommandIo } from './command';
import { openPath } from './path-source';

export const modelOption = {
  type: 'string',
  value: 'PATH',
  help: 'a .gguf, or a folder with config.json and weights',
} as const;

/** Float matrices of a big model are rounded to 8 bits while loading; a comparison with another engine wants them kept. */
export const floatsOption = {
  type: 'string',
  choices: ['f32', 'q8', 'q4'] as const,
  help: 'keep float matrices as they are, or round them to 8 or 4 bits (default: by size)',
} as const;

/** Of `LoadOptions.precision`. */
export const precisionOption = {
  type: 'string',
  choices: precisionChoices,
  default: 'f32',
  help: 'of the cached keys and values: f16 in half the memory, auto = f16 where this device computes it right',
} as const;

/** Opens the files without reading weights. Throws `bad-value` without a path, else what the readers throw. */
export async function openSource(io: CommandIo, path: string | undefined): Promise<WeightSource> {
  if (path === undefined) {
    throw new DreamError('no-model', 'No model was named.', 'Add --model with a .gguf file or a model folder.');
  }
  return openModelFiles(await openPath(io.resolve(path)));
}

/** The source's tokenizer. Throws `no-tokenizer`. */
export async function openTokenizer(source: WeightSource): Promise<TextTokenizer> {
  const found = await source.tokenizer();
  if (found) return new TextTokenizer(found);
  throw new DreamError(
    'no-tokenizer',
    `${source.label} brings no tokenizer.`,
    'Put tokenizer.json and tokenizer_config.json of the same model beside the weights.',
  );
}

/** Loads onto the GPU with a progress bar. Dispose the model. */
export async function loadFromDisk(
  io: CommandIo,
  gpu: Gpu,
  source: WeightSource,
  options: LoadOptions = {},
): Promise<DecoderModel> {
  const bar = io.progress('load');
  try {
    return await loadModel(gpu, source, {
      ...options,
      signal: io.signal,
      onProgress: ({ bytes, total, tensor }) => bar.update(bytes / total, tensor),
    });
  } finally {
    bar.clear();
  }
}

/** A PEFT folder's files by name. Throws `file-read`. */
export async function readFolder(io: CommandIo, path: string): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  for (const file of await openPath(io.resolve(path))) {
    files.set(file.name, await file.read(0, file.size));
    await file.close();
  }
  return files;
}

/** A PEFT folder's adapter, checked against the base it is for. Throws `bad-adapter`, `adapter-mismatch`, `file-read`. */
export async function readPeftFolder(io: CommandIo, path: string, config: DecoderConfig): Promise<LoraAdapter> {
  return readPeft(await readFolder(io, path), config);
}
