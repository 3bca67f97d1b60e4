/** @file What the host and the worker around transformers.js say to each other. Plain, cloneable data. */
import type { TextRequest } from '../text-model';

/** Weight files as onnx-community names them: `onnx/model_q4f16.onnx`, and so on. */
export const weightSuffixes = {
  fp32: '',
  fp16: '_fp16',
  q8: '_quantized',
  q4: '_q4',
  q4f16: '_q4f16',
} as const;

export type WeightType = keyof typeof weightSuffixes;

export type ModelSource =
  /** Files that the reader picked or that were downloaded before: path inside the model's folder -> contents. */
  | { kind: 'folder'; files: ReadonlyMap<string, Blob> }
  /** A folder of this site, served beside the page: `<url>/config.json`, `<url>/onnx/…`. */
  | { kind: 'site'; url: string }
  /** The model hub, by name. Only when the reader asked for it: this is the one source that leaves the site. */
  | { kind: 'hub'; revision?: string };

export interface TransformersModel {
  /** `owner/name`; for folders and sites any name. */
  id: string;
  source: ModelSource;
  device: 'webgpu' | 'wasm';
  /** What is wanted. Half precision falls back to `q4` or `fp32` where the device cannot do it and the file is there. */
  weights: WeightType;
}

export interface CompleteCall {
  model: TransformersModel;
  requests: readonly TextRequest[];
}

export interface EmbedCall {
  model: TransformersModel;
  texts: readonly string[];
}

/** Unit vectors, one after another. */
export interface EmbedResult {
  vectors: Float32Array;
  dimension: number;
}

/** Sent whenever something moved, so that silence means that the worker is stuck. */
export type TransformersProgress =
  | { phase: 'loading'; file: string; loadedBytes: number; totalBytes: number }
  | { phase: 'working'; done: number; total: number };

/** The library itself failed: its realm is spent (one failed run makes every later one fail), so the worker must go. */
export const libraryFailedCode = 'transformers-failed';

/** Tells models of one worker apart: the same id with other weights is another model. */
export const modelKey = ({ id, source, device, weights }: TransformersModel) =>
  [source.kind, source.kind === 'site' ? source.url : '', id, device, weights].join(' ');
