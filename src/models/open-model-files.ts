/**
 * @file Whatever files of a model a user picked, dropped, downloaded or keeps in a folder, as weights: a GGUF alone, or
 * config.json with safetensors or ONNX files.
 *
 * Recognised files get the names the hub uses, so that one rule (sources/choose-files.ts) chooses there and here.
 */
import { DreamError } from '../data/errors';
import type { Json } from './families';
import { openGguf } from './gguf';
import { openOnnx } from './onnx';
import { type FileKind, recogniseFile } from './recognise-file';
import { openSafetensors } from './safetensors-source';
import { ambiguous, type Choice, chooseFiles } from './sources/choose-files';
import { baseName, folderOf } from './sources/path';
import type { ByteSource, TokenizerSource, WeightSource } from './weights';

export interface OpenOptions {
  /** For messages: the folder's or repository's name. Default: the folder's, where names have one, or the model file's. */
  label?: string;
  /** As in a model's id behind ":", when several models lie beside each other. */
  version?: string;
  /** Told when one of several models was chosen. */
  onNote?: (note: string) => void;
}

interface Recognised {
  /** The usual name in its folder. */
  path: string;
  size: number;
  file: ByteSource;
  is: FileKind;
}

const usualNames: Partial<Record<FileKind['kind'], string>> = {
  config: 'config.json',
  index: 'model.safetensors.index.json',
  tokenizer: 'tokenizer.json',
  'tokenizer-config': 'tokenizer_config.json',
  'generation-config': 'generation_config.json',
  'chat-template': 'chat_template.jinja',
};

/**
 * Reads descriptions and headers, no weights.
 * Throws `no-model-files`, `model-ambiguous`, `missing-file`, `adapter-not-model`, `unsafe-format`, `bad-json`,
 * `file-read`, and what `openGguf`, `openSafetensors` and `openOnnx` throw.
 */
export async function openModelFiles(files: readonly ByteSource[], options: OpenOptions = {}): Promise<WeightSource> {
  const recognised: Recognised[] = [];
  for (const file of files) recognised.push({ path: file.name, size: file.size, file, is: await recogniseFile(file) });
  const folderName = options.label ?? folderNameOf(files);
  const where = folderName ?? (files.length === 1 ? files[0].name : `the choice of ${files.length} files`);
  refuseWhatIsNoModel(recognised, where);
  const named = withUsualNames(recognised);
  const choice = chooseFiles(named, options.version ?? null, where);
  const main = choice.files.find(({ path }) => path === choice.main) as Recognised;
  if (choice.others.length > 0) {
    const originals = new Map(named.map(({ path, file }) => [path, file.name]));
    const others = choice.others.map((path) => originals.get(path) ?? path).join(', ');
    options.onNote?.(`Of several models in ${where}, ${main.file.name} was chosen; also there: ${others}.`);
  }
  const tokenizer = tokenizerOf(choice);
  if (choice.format === 'gguf') return besideIt(await openGguf(main.file), tokenizer);
  const shared = {
    label: folderName ?? main.file.name,
    config: jsonOf(choice, 'config') ?? missing('config.json', main.file.name),
    tokenizer: tokenizer?.tokenizer,
    tokenizerConfig: tokenizer?.tokenizerConfig,
  };
  const folder = folderOf(main.path);
  const beside = named.filter((other) => other !== main && folderOf(other.path) === folder);
  if (choice.format === 'onnx') {
    // The graph names its external files as it likes.
    const external = new Map(beside.map(({ file }) => [baseName(file.name), file]));
    return openOnnx({ ...shared, model: main.file, external });
  }
  const index = main.is.kind === 'index' ? main.is.json : undefined;
  const weights = index ? beside.filter(({ is }) => is.kind === 'safetensors') : [main];
  return openSafetensors({
    ...shared,
    index,
    weights: new Map(weights.map(({ file }) => [baseName(file.name), file])),
  });
}

/** The picked folder's name, if all files lie in one. */
function folderNameOf(files: readonly ByteSource[]): string | undefined {
  const tops = new Set(files.map(({ name }) => name.slice(0, name.indexOf('/') + 1)));
  const [top] = tops;
  return tops.size === 1 && top !== '' ? top.slice(0, -1) : undefined;
}

function refuseWhatIsNoModel(recognised: readonly Recognised[], where: string): void {
  const of = (kind: FileKind['kind']): Recognised[] => recognised.filter(({ is }) => is.kind === kind);
  const weights = [...of('gguf'), ...of('onnx'), ...of('safetensors')];
  const isAdapter = ({ path }: Recognised): boolean => baseName(path).startsWith('adapter');
  if (weights.every(isAdapter) && (weights.length > 0 || of('adapter-config').length > 0)) {
    throw new DreamError(
      'adapter-not-model',
      `${where} is an adapter (LoRA), not a model.`,
      'Open the model it was trained for first, then the adapter.',
    );
  }
  const [pickle] = of('pickle');
  if (weights.length === 0 && pickle) {
    throw new DreamError(
      'unsafe-format',
      `"${pickle.file.name}" is an archive or a PyTorch file. Such files can carry programs and are never read.`,
      'Take the model as GGUF, safetensors or ONNX; unpack a zip first.',
    );
  }
}

/** Throws `model-ambiguous`, `missing-file`. */
function withUsualNames(recognised: readonly Recognised[]): Recognised[] {
  const named = new Map<string, Recognised>();
  const add = (entry: Recognised, path: string): void => {
    const other = named.get(path);
    // The one that is really called so wins over `config (1).json`.
    if (other && other.file.name !== path && entry.file.name !== path)
      throw ambiguous([other.file.name, entry.file.name], `The choice of ${path}`);
    if (!other || entry.file.name === path) named.set(path, { ...entry, path });
  };
  for (const entry of recognised) {
    const { path, is } = entry;
    const usual = usualNames[is.kind];
    const extension = is.kind === 'gguf' || is.kind === 'onnx' ? `.${is.kind}` : '';
    if (usual !== undefined) add(entry, folderOf(path) + usual);
    else if (is.kind === 'safetensors') add(entry, safetensorsName(entry, recognised));
    else add(entry, path.toLowerCase().endsWith(extension) ? path : path + extension);
  }
  return [...named.values()];
}

/** A file of weights alone in its folder is the model, whatever it is called. */
function safetensorsName({ path }: Recognised, all: readonly Recognised[]): string {
  const folder = folderOf(path);
  const beside = all.filter((other) => folderOf(other.path) === folder);
  if (baseName(path) === 'model.safetensors' || beside.some(({ is }) => is.kind === 'index')) return path;
  if (/-\d{5}-of-\d{5}\.safetensors$/.test(path)) throw missing('model.safetensors.index.json', path);
  const models = beside.filter(({ is, path: p }) => is.kind === 'safetensors' && !baseName(p).startsWith('adapter'));
  if (models.length > 1 && !models.some((other) => baseName(other.path) === 'model.safetensors'))
    throw ambiguous(
      models.map(({ file }) => file.name),
      'The folder',
    );
  return models[0]?.path === path ? `${folder}model.safetensors` : path;
}

function missing(name: string, main: string): never {
  throw new DreamError(
    'missing-file',
    `${name} is missing beside ${main}.`,
    'Choose the whole folder, or all files of the model together.',
  );
}

function jsonOf(choice: Choice<Recognised>, kind: FileKind['kind']): Json | undefined {
  const entry = choice.files.find(({ is }) => is.kind === kind);
  return entry && 'json' in entry.is ? entry.is.json : undefined;
}

/** What lies in files of its own today (chat_template.jinja, more ends of a turn) goes where it used to be. */
function tokenizerOf(choice: Choice<Recognised>): TokenizerSource | null {
  const tokenizer = jsonOf(choice, 'tokenizer');
  if (!tokenizer) return null;
  const tokenizerConfig = { ...jsonOf(choice, 'tokenizer-config') };
  const template = choice.files.find(({ is }) => is.kind === 'chat-template');
  if (template?.is.kind === 'chat-template') tokenizerConfig.chat_template = template.is.text;
  const ends = (jsonOf(choice, 'generation-config') ?? jsonOf(choice, 'config'))?.eos_token_id;
  if (ends !== undefined) tokenizerConfig.eos_token_id ??= ends;
  return { tokenizer, tokenizerConfig };
}

/** A tokenizer.json beside a GGUF is the original; the GGUF's own is rebuilt from parts. */
function besideIt(source: WeightSource, tokenizer: TokenizerSource | null): WeightSource {
  if (!tokenizer) return source;
  return {
    label: source.label,
    architecture: source.architecture,
    config: source.config,
    tensors: source.tensors,
    tokenizer: async () => tokenizer,
    read: (...where) => source.read(...where),
    close: () => source.close(),
  };
}
