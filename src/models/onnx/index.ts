/**
 * @file A model as onnx-community publishes it for transformers.js: an .onnx graph with MatMulNBits (q4, q4f16) or plain
 * float weights, in the graph or in files beside it. Only the graph is read to open it.
 */
import { DreamError } from '../../data/errors';
import type { DecoderConfig } from '../../nn/config';
import { architectureOf, checkTensors, configFromHuggingFace, expectedTensors, type Json } from '../families';
import { closedError } from '../read-exactly';
import type { ByteSource, Rows, TensorInfo, TokenizerSource, WeightSource } from '../weights';
import { GraphWalker } from './graph';
import { nativeForm, readRows, readVector, storedAs, storedBytes } from './matrix';
import { readGraph } from './model';
import { type Part, resolveWeights } from './resolve';

export interface OnnxFiles {
  /** For messages: the folder's or repository's name. Default: the .onnx file's. */
  label?: string;
  /** Content of config.json. */
  config: Json;
  /** The .onnx file. */
  model: ByteSource;
  /** The files beside it (`model_q4.onnx_data`, ...), by the name the graph calls them. */
  external: ReadonlyMap<string, ByteSource>;
  /** Contents of tokenizer.json and tokenizer_config.json. */
  tokenizer?: Json;
  tokenizerConfig?: Json;
}

/**
 * Reads the graph, finds every weight in it and checks the shapes.
 * The head counts as untied (`untiedHead`) whenever the file holds other bytes for it than the embedding's.
 * Throws `unsupported-architecture`, `unsupported-setting`, `unsupported-quantisation`, `bad-model-config`, `bad-onnx`,
 * `missing-file`, `missing-tensor`, `wrong-shape`, `file-read`.
 */
export async function openOnnx(files: OnnxFiles): Promise<WeightSource> {
  const label = files.label ?? files.model.name;
  const architecture = architectureOf(files.config, label);
  const announced = configFromHuggingFace(files.config, label);
  const graph = await readGraph(files.model, files.external);
  const { parts, tied } = await resolveWeights(new GraphWalker(graph), announced);
  const config: DecoderConfig = { ...announced, untiedHead: tied ? undefined : true };
  if (tied) delete config.untiedHead;
  const tensors = describe(config, parts);
  checkTensors(config, tensors, label);

  let closed = false;
  return {
    label,
    architecture,
    config,
    tensors,
    async tokenizer(): Promise<TokenizerSource | null> {
      return files.tokenizer ? { tokenizer: files.tokenizer, tokenizerConfig: files.tokenizerConfig ?? {} } : null;
    },
    async read(name, first, count, form, scales): Promise<Rows> {
      if (closed) throw closedError(label);
      const part = parts.get(name);
      const info = tensors.get(name);
      if (!part || !info || first < 0 || count < 0 || first + count > info.rows)
        throw new RangeError(`No rows ${first}..${first + count} of "${name}" in ${label}`);
      if (part.kind === 'rows') return readRows(part.matrix, part.first + first, count, form, scales);
      if (form !== 'f32')
        throw new DreamError('wrong-shape', `"${name}" in ${label} is a vector.`, 'Read this tensor as f32.');
      return { form, values: await readVector(part.values, part.first, part.length * count) };
    },
    close() {
      closed = true;
    },
  };
}

function describe(config: DecoderConfig, parts: ReadonlyMap<string, Part>): Map<string, TensorInfo> {
  const tensors = new Map<string, TensorInfo>();
  for (const { name, required } of expectedTensors(config)) {
    const part = parts.get(name);
    if (!part || !required) continue;
    if (part.kind === 'vector') {
      const { values, first, length } = part;
      // A slice of a stacked bias that is shorter than its slices shows as a wrong shape.
      const columns = Math.max(0, Math.min(length, values.dims[0] - first));
      const bytes = (values.data.bytes / Math.max(1, values.dims[0])) * columns;
      tensors.set(name, { name, rows: 1, columns, stored: values.type, bytes, form: 'f32', scales: 'single' });
    } else {
      const { matrix, first } = part;
      const rows = Math.max(0, Math.min(part.rows, matrix.rows - first));
      const bytes = Math.round((storedBytes(matrix) * rows) / matrix.rows);
      const stored = storedAs(matrix);
      tensors.set(name, { name, rows, columns: matrix.columns, stored, bytes, ...nativeForm(matrix) });
    }
  }
  return tensors;
}
