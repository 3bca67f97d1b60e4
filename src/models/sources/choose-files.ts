/**
 * @file Which of the files beside each other make one model, and which model to take when there are several.
 *
 * The smallest form the engine keeps as it is comes first: GGUF at four bits, ONNX q4 with half scales (the same codes
 * in fewer bytes than q4), then the float weights. A version named by the user decides instead.
 */
import { DreamError } from '../../data/errors';
import { baseName, folderOf } from './path';

export interface NamedFile {
  path: string;
  size: number;
}

export type ModelFormat = 'gguf' | 'onnx' | 'safetensors';

export interface Choice<T extends NamedFile> {
  format: ModelFormat;
  /** Small files first: a model we cannot use is refused before its weights are fetched. */
  files: T[];
  /** The path that was chosen among others. */
  main: string;
  /** What else could have been chosen. */
  others: string[];
}

const quantisations = 'Q4_K_M Q4_K_S Q4_1 Q4_0 Q5_K_M Q5_K_S Q5_1 Q5_0 Q6_K Q8_0 BF16 F16 F32'.split(' ');
const onnxVariants = ['q4f16', 'q4'];
const companions = [
  'config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'generation_config.json',
  'chat_template.jinja',
];

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
/** `Q4_K_M` in `SmolLM2-135M-Instruct-Q4_K_M.gguf`, not in `...-Q4_K_M-v2`'s neighbour `IQ4_K_M`. */
const hasTag = (path: string, tag: string): boolean =>
  new RegExp(`(?:^|[._-])${escaped(tag)}(?=[._-]|$)`, 'i').test(baseName(path).replace(/\.(gguf|onnx)$/i, ''));

interface Candidate {
  format: ModelFormat;
  path: string;
  /** Lower is better; Infinity = only when it is alone or named. */
  rank: number;
}

function candidatesOf(files: readonly NamedFile[]): Candidate[] {
  const found: Candidate[] = [];
  for (const { path } of files) {
    const name = baseName(path);
    // Vision towers, and parts of a split file, are no model of their own.
    if (/\.gguf$/i.test(name) && !/mmproj|-\d{5}-of-\d{5}\.gguf$/i.test(name)) {
      const rank = quantisations.findIndex((tag) => hasTag(path, tag));
      found.push({ format: 'gguf', path, rank: rank < 0 ? Number.POSITIVE_INFINITY : rank });
    } else if (/\.onnx$/i.test(name)) {
      const variant = onnxVariants.findIndex((tag) => hasTag(path, tag));
      // Other exports (fp16, int8, uint8, bnb4) are not in blocks of 32.
      found.push({ format: 'onnx', path, rank: variant < 0 ? Number.POSITIVE_INFINITY : 100 + variant });
    } else if (name === 'model.safetensors' || name === 'model.safetensors.index.json') {
      found.push({ format: 'safetensors', path, rank: 200 });
    }
  }
  return found;
}

/** Does the user's word name this file? */
function isNamed(candidate: Candidate, version: string): boolean {
  const { path, format } = candidate;
  return path === version || baseName(path) === version || format === version || hasTag(path, version);
}

/**
 * @param version From the model's id, null = the best. Throws `no-model-files`, `model-ambiguous`.
 * @param where For messages.
 */
export function chooseFiles<T extends NamedFile>(
  files: readonly T[],
  version: string | null,
  where: string,
): Choice<T> {
  const all = candidatesOf(files);
  let fitting = version === null ? all : all.filter((candidate) => isNamed(candidate, version));
  // A full name beats a part of it, and the exact spelling `q4` beats GGUF's `Q4_...`.
  const exact = fitting.filter((c) => c.path === version || baseName(c.path) === version);
  if (exact.length > 0) fitting = exact;
  if (fitting.length === 0) {
    const listed = all.map((candidate) => candidate.path);
    throw new DreamError(
      'no-model-files',
      version === null
        ? `${where} holds no GGUF, ONNX or safetensors model.`
        : `${where} holds no version "${version}"${listed.length > 0 ? `, only ${listed.join(', ')}` : ''}.`,
      'Choose a model published as GGUF, as ONNX q4 (onnx-community) or as safetensors; PyTorch files (.bin, .pt) can carry programs and are never read.',
    );
  }
  const best = Math.min(...fitting.map((candidate) => candidate.rank));
  const winners = fitting.filter((candidate) => candidate.rank === best);
  if (winners.length > 1)
    throw ambiguous(
      winners.map((w) => w.path),
      where,
    );
  const [winner] = winners;
  const weights = weightFiles(files, winner);
  const beside = companionFiles(files, winner);
  const chosen = [...beside, ...weights].sort((a, b) => a.size - b.size);
  const others = all.map((candidate) => candidate.path).filter((path) => path !== winner.path);
  return { format: winner.format, files: chosen, main: winner.path, others };
}

export function ambiguous(paths: readonly string[], where: string): DreamError {
  return new DreamError(
    'model-ambiguous',
    `${where} holds several models: ${paths.join(', ')}.`,
    'Name or choose one of them.',
  );
}

/** The main file and what it needs: external data of ONNX, shards of safetensors. */
function weightFiles<T extends NamedFile>(files: readonly T[], winner: Candidate): T[] {
  const name = baseName(winner.path);
  const folder = folderOf(winner.path);
  const belongs = (path: string): boolean => {
    if (path === winner.path) return true;
    if (folderOf(path) !== folder) return false;
    const other = baseName(path);
    if (winner.format === 'onnx') return other.startsWith(`${name}_data`) || other.startsWith(`${name}.data`);
    return name.endsWith('.index.json') && /^model-\d{5}-of-\d{5}\.safetensors$/.test(other);
  };
  return files.filter((file) => belongs(file.path));
}

/** Descriptions beside the weights, or above them: ONNX files often lie in a folder `onnx/`. */
function companionFiles<T extends NamedFile>(files: readonly T[], winner: Candidate): T[] {
  const found: T[] = [];
  for (const name of companions) {
    for (let folder = folderOf(winner.path); ; folder = folderOf(folder.slice(0, -1))) {
      const file = files.find((f) => f.path === folder + name);
      if (file) found.push(file);
      if (file || folder === '') break;
    }
  }
  return found;
}
