/** @file A chosen model, opened as far as its headers: what it is, and how its weights will be got. */
import { asDreamError, DreamError } from '../../data/errors';
import { openModelFiles } from '../../models/open-model-files';
import { BlobSource } from '../../models/sources/blob-source';
import { type DownloadOptions, type DownloadPlan, planDownload, remoteFiles } from '../../models/sources/download';
import type { FileCache } from '../../models/sources/file-cache';
import { TextTokenizer } from '../../models/text-tokenizer';
import type { ByteSource, WeightSource } from '../../models/weights';
import type { TypedError } from '../protocol';
import type { ModelChoice, ModelFacts, StoredAs } from './protocol';

export interface OpenedModel {
  source: WeightSource;
  tokenizer: TextTokenizer | null;
  facts: ModelFacts;
  /** How to fetch it, for a model of the hub whose weights are read where they are. */
  download: { plan: DownloadPlan; token?: string } | null;
}

export interface ChoiceParts {
  embeddedFiles(): Promise<ByteSource[]>;
  cache(): Promise<FileCache>;
  hub?: Pick<DownloadOptions, 'fetch' | 'host' | 'retry'>;
}

/** Reads headers and descriptions. Throws what `openModelFiles`, `planDownload` and `remoteFiles` throw. */
export async function openChoice(choice: ModelChoice, parts: ChoiceParts, signal: AbortSignal): Promise<OpenedModel> {
  const notes: string[] = [];
  const onNote = (note: string): void => void notes.push(note);
  let files: ByteSource[];
  let label: string | undefined;
  let download: OpenedModel['download'] = null;
  if (choice.kind === 'hub') {
    const options = { ...parts.hub, cache: await parts.cache(), token: choice.token || undefined, signal };
    const plan = await planDownload(choice.id, options);
    if (plan.others.length > 0) notes.push(chosenAmong(plan));
    files = await remoteFiles(plan, options);
    label = plan.repository;
    download = { plan, token: options.token };
  } else if (choice.kind === 'files') {
    files = choice.files.map(({ path, file }) => new BlobSource(file, path));
    if (files.length === 0)
      throw new DreamError('no-model-files', 'Nothing was chosen.', 'Choose a .gguf file, or a model’s whole folder.');
  } else {
    files = await parts.embeddedFiles();
    label = 'the embedded model';
  }
  signal.throwIfAborted();
  const source = await openModelFiles(files, { label, onNote });
  try {
    const { tokenizer, problem } = await tokenizerOf(source);
    signal.throwIfAborted();
    return { source, tokenizer, download, facts: factsOf(choice.kind, source, tokenizer, problem, notes, download) };
  } catch (error) {
    source.close();
    throw error;
  }
}

/** The files of a finished download, opened like any others. */
export async function openDownloaded(opened: OpenedModel, files: readonly ByteSource[]): Promise<OpenedModel> {
  const source = await openModelFiles(files, { label: opened.facts.label });
  opened.source.close();
  const facts = opened.facts.download && { ...opened.facts.download, fetchBytes: 0 };
  return { ...opened, source, download: null, facts: { ...opened.facts, download: facts } };
}

const chosenAmong = ({ repository, main, others }: DownloadPlan): string =>
  `Of several versions in ${repository}, ${main} was chosen. To take another, write it behind a colon, for example :${others[0]}.`;

/** A model without a usable tokenizer can still be looked at and planned. */
async function tokenizerOf(
  source: WeightSource,
): Promise<{ tokenizer: TextTokenizer | null; problem: TypedError | null }> {
  try {
    const found = await source.tokenizer();
    return { tokenizer: found && new TextTokenizer(found), problem: null };
  } catch (error) {
    const { code, message, advice } = asDreamError(error);
    return { tokenizer: null, problem: { code, message, advice } };
  }
}

function factsOf(
  kind: ModelChoice['kind'],
  source: WeightSource,
  tokenizer: TextTokenizer | null,
  tokenizerProblem: TypedError | null,
  notes: string[],
  download: OpenedModel['download'],
): ModelFacts {
  const stored = new Map<string, StoredAs>();
  let parameters = 0;
  let weightBytes = 0;
  for (const { stored: type, rows, columns, bytes } of source.tensors.values()) {
    const entry = stored.get(type) ?? { type, tensors: 0, bytes: 0 };
    stored.set(type, { type, tensors: entry.tensors + 1, bytes: entry.bytes + bytes });
    parameters += rows * columns;
    weightBytes += bytes;
  }
  return {
    kind,
    label: source.label,
    architecture: source.architecture,
    parameters,
    config: source.config,
    weightBytes,
    storedAs: [...stored.values()].sort((a, b) => b.bytes - a.bytes),
    hasTokenizer: tokenizer !== null,
    hasChatTemplate: tokenizer?.hasChatTemplate ?? false,
    tokenizerProblem,
    notes,
    download: download && {
      repository: download.plan.repository,
      commit: download.plan.commit,
      files: download.plan.files.map(({ path, size }) => ({ path, bytes: size })),
      totalBytes: download.plan.totalBytes,
      fetchBytes: download.plan.fetchBytes,
    },
  };
}
