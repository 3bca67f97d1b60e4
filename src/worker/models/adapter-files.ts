/** @file Adapters in and out as files: a PEFT zip or folder, or the GGUF of llama.cpp. */
import { DreamError } from '../../data/errors';
import type { LoraAdapter } from '../../models/adapters';
import { checkAdapterFits, readGgufLora, readPeft, readPeftZip, writeGgufLora, zipPeft } from '../../models/adapters';
import type { DecoderConfig } from '../../nn/config';
import type { PickedFile } from './protocol';
import type { NamedAdapter } from './resident-model';

/** A rank-64 LoRA of a 3B model has 0.4 GB in f32. */
const MAX_BYTES = 2 ** 30;

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Checked against the base it is to lie over. Throws `bad-adapter`, `adapter-mismatch`, `file-read`. */
export async function readAdapter(files: readonly PickedFile[], config: DecoderConfig): Promise<NamedAdapter> {
  const total = files.reduce((sum, { file }) => sum + file.size, 0);
  if (files.length === 0 || total > MAX_BYTES) {
    throw new DreamError(
      'bad-adapter',
      files.length === 0 ? 'Nothing was chosen.' : 'This is larger than any adapter.',
      'Choose the zip or the folder that PEFT writes, or a LoRA in GGUF form.',
    );
  }
  const contents = new Map<string, Uint8Array>();
  for (const { path, file } of files) contents.set(path, new Uint8Array(await bytesOf(path, file)));
  const [[path, first]] = contents;
  const name = baseName(path);
  if (contents.size > 1) return { name: path.split('/')[0], adapter: readPeft(contents, config) };
  const starts = (text: string): boolean => [...text].every((letter, i) => first[i] === letter.charCodeAt(0));
  if (starts('GGUF')) return { name, adapter: (await readGgufLora(first, config)).adapter };
  if (starts('PK')) return { name, adapter: readPeftZip(first, config) };
  throw new DreamError(
    'bad-adapter',
    `"${name}" is neither a zip nor a GGUF.`,
    'Choose the zip that was exported, all files of the PEFT folder together, or a LoRA in GGUF form.',
  );
}

async function bytesOf(path: string, file: Blob): Promise<ArrayBuffer> {
  try {
    return await file.arrayBuffer();
  } catch (cause) {
    throw new DreamError('file-read', `"${path}" cannot be read.`, 'Choose it again; it may have been moved.', {
      cause,
    });
  }
}

/** Throws `adapter-mismatch`, `unsupported-architecture`. */
export function writeAdapter(
  adapter: LoraAdapter,
  format: 'peft' | 'gguf',
  base: { architecture: string; config: DecoderConfig },
): { name: string; bytes: Uint8Array<ArrayBuffer> } {
  checkAdapterFits(adapter, base.config);
  const stem = `lora-${baseName(adapter.baseModel)
    .replace(/\.gguf$/i, '')
    .replace(/[^\w.-]+/g, '-')}`;
  if (format === 'peft') return { name: `${stem}.zip`, bytes: zipPeft(adapter) };
  return { name: `${stem}.gguf`, bytes: writeGgufLora(adapter, base.architecture, base.config) };
}
