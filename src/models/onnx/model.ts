/**
 * @file An ONNX model's graph: nodes, and where each initialiser's bytes lie (in the model or in an external file).
 * Field numbers: onnx.proto3. Sub-graphs and functions are skipped: no decoder of ours has them.
 */
import { DreamError } from '../../data/errors';
import type { ByteSource } from '../weights';
import { badOnnx, type Field, ProtobufReader } from './protobuf';

/** TensorProto.DataType, and bits per element. */
export const ONNX_TYPES: Readonly<Record<number, { name: string; bits: number }>> = {
  1: { name: 'F32', bits: 32 },
  2: { name: 'U8', bits: 8 },
  3: { name: 'I8', bits: 8 },
  4: { name: 'U16', bits: 16 },
  5: { name: 'I16', bits: 16 },
  6: { name: 'I32', bits: 32 },
  7: { name: 'I64', bits: 64 },
  9: { name: 'BOOL', bits: 8 },
  10: { name: 'F16', bits: 16 },
  11: { name: 'F64', bits: 64 },
  16: { name: 'BF16', bits: 16 },
  21: { name: 'U4', bits: 4 },
  22: { name: 'I4', bits: 4 },
};

export interface Initializer {
  readonly name: string;
  /** `F32`, `U8`, ... or `type N` for one we do not know. */
  readonly type: string;
  readonly dims: readonly number[];
  /** Null when its values stand one by one in the model (only `integers`, if they are few, are kept then). */
  readonly data: { readonly file: ByteSource; readonly offset: number; readonly bytes: number } | null;
  readonly integers: readonly number[];
}

export type Attribute = number | string | readonly number[];

export interface Node {
  readonly name: string;
  readonly op: string;
  /** '' = left out. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: ReadonlyMap<string, Attribute>;
}

export interface Graph {
  readonly file: ByteSource;
  readonly producer: string;
  /** In topological order, as ONNX demands. */
  readonly nodes: readonly Node[];
  readonly initializers: ReadonlyMap<string, Initializer>;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/** A real decoder has 30 nodes a layer; damage must not fill the memory with empty ones. */
const MAX_ITEMS = 100_000;
const MAX_LIST_BYTES = 4096;

/** @throws DreamError `bad-onnx`, `missing-file` (external data), `file-read`. */
export async function readGraph(file: ByteSource, external: ReadonlyMap<string, ByteSource>): Promise<Graph> {
  const reader = new ProtobufReader(file);
  let producer = '';
  let graph: Field | undefined;
  for await (const field of reader.fields(0, file.size)) {
    if (field.number === 2) producer = await reader.text(field);
    else if (field.number === 7 && field.wire === 2) graph = field;
  }
  if (!graph) throw badOnnx(file, 'it holds no graph.');

  const nodes: Node[] = [];
  const initializers = new Map<string, Initializer>();
  const inputs: string[] = [];
  const outputs: string[] = [];
  let items = 0;
  for await (const field of reader.fields(graph.offset, graph.offset + graph.length)) {
    if (field.wire !== 2) continue;
    if (++items > MAX_ITEMS) throw badOnnx(file, `its graph has more than ${MAX_ITEMS} parts.`);
    if (field.number === 1) {
      const { node, constant } = await readNode(reader, field, external);
      nodes.push(node);
      if (constant) initializers.set(node.outputs[0], constant);
    } else if (field.number === 5) {
      const tensor = await readTensor(reader, field, external);
      initializers.set(tensor.name, tensor);
    } else if (field.number === 11 || field.number === 12) {
      const name = await readValueName(reader, field);
      (field.number === 11 ? inputs : outputs).push(name);
    }
  }
  refuseOverlap(file, initializers);
  return { file, producer, nodes, initializers, inputs, outputs };
}

async function readValueName(reader: ProtobufReader, message: Field): Promise<string> {
  for await (const field of reader.fields(message.offset, message.offset + message.length)) {
    if (field.number === 1) return reader.text(field);
  }
  return '';
}

async function readNode(
  reader: ProtobufReader,
  message: Field,
  external: ReadonlyMap<string, ByteSource>,
): Promise<{ node: Node; constant: Initializer | null }> {
  const node = {
    name: '',
    op: '',
    inputs: [] as string[],
    outputs: [] as string[],
    attributes: new Map<string, Attribute>(),
  };
  let constant: Initializer | null = null;
  for await (const field of reader.fields(message.offset, message.offset + message.length)) {
    if (field.number === 1 || field.number === 2) {
      const list = field.number === 1 ? node.inputs : node.outputs;
      if (list.length >= MAX_LIST_BYTES) throw badOnnx(reader.file, `node "${node.name}" has too many values.`);
      list.push(await reader.text(field));
    } else if (field.number === 3) node.name = await reader.text(field);
    else if (field.number === 4) node.op = await reader.text(field);
    else if (field.number === 5 && field.wire === 2) {
      const { name, value, tensor } = await readAttribute(reader, field, external);
      if (value !== undefined) node.attributes.set(name, value);
      if (tensor && name === 'value') constant = tensor;
    }
  }
  return { node, constant: node.op === 'Constant' && node.outputs.length === 1 ? constant : null };
}

async function readAttribute(
  reader: ProtobufReader,
  message: Field,
  external: ReadonlyMap<string, ByteSource>,
): Promise<{ name: string; value?: Attribute; tensor?: Initializer }> {
  let name = '';
  let value: Attribute | undefined;
  let tensor: Initializer | undefined;
  const integers: number[] = [];
  for await (const field of reader.fields(message.offset, message.offset + message.length)) {
    if (field.number === 1) name = await reader.text(field);
    else if (field.number === 2) value = await reader.float(field);
    else if (field.number === 3) value = field.value;
    // Long strings and lists (a model's own documentation) steer nothing that is asked of a node here.
    else if (field.number === 4 && field.length <= MAX_LIST_BYTES) value = await reader.text(field);
    else if (field.number === 5 && field.wire === 2) tensor = await readTensor(reader, field, external);
    else if (field.number === 8 && integers.length < MAX_LIST_BYTES && field.length <= MAX_LIST_BYTES) {
      integers.push(...(await reader.integers(field, MAX_LIST_BYTES)));
      value = integers;
    }
  }
  return { name, value, tensor };
}

async function readTensor(
  reader: ProtobufReader,
  message: Field,
  external: ReadonlyMap<string, ByteSource>,
): Promise<Initializer> {
  const { file } = reader;
  const dims: number[] = [];
  const integers: number[] = [];
  const location = new Map<string, string>();
  let name = '';
  let code = 0;
  let outside = false;
  let raw: Field | undefined;
  for await (const field of reader.fields(message.offset, message.offset + message.length)) {
    if (field.number === 1) dims.push(...(await reader.integers(field, MAX_LIST_BYTES)));
    else if (field.number === 2) code = field.value;
    // A packed list of floats is the same bytes as raw data.
    else if (field.number === 9 || (field.number === 4 && field.wire === 2)) raw = field;
    else if ((field.number === 5 || field.number === 7) && field.length <= MAX_LIST_BYTES) {
      if (integers.length < MAX_LIST_BYTES) integers.push(...(await reader.integers(field, MAX_LIST_BYTES)));
    } else if (field.number === 8) name = await reader.text(field);
    else if (field.number === 13 && field.wire === 2) {
      const [key, value] = await readEntry(reader, field);
      location.set(key, value);
    } else if (field.number === 14) outside = field.value === 1;
    if (dims.length > 16 || location.size > 16) throw badOnnx(file, `tensor "${name}" has no valid shape or place.`);
  }
  if (!dims.every((n) => Number.isSafeInteger(n) && n >= 0))
    throw badOnnx(file, `tensor "${name}" has no valid shape.`);
  const known = ONNX_TYPES[code];
  const type = known?.name ?? `type ${code}`;
  const expected = known ? Math.ceil((dims.reduce((a, b) => a * b, 1) * known.bits) / 8) : undefined;
  let data: Initializer['data'] = null;
  if (outside) data = findExternal(file, name, location, external, expected);
  else if (raw) data = { file, offset: raw.offset, bytes: raw.length };
  if (data && expected !== undefined && data.bytes !== expected) {
    throw badOnnx(file, `tensor "${name}" is ${type} [${dims}], ${expected} bytes, but ${data.bytes} are stored.`);
  }
  return { name, type, dims, data, integers };
}

async function readEntry(reader: ProtobufReader, message: Field): Promise<[string, string]> {
  let key = '';
  let value = '';
  for await (const field of reader.fields(message.offset, message.offset + message.length)) {
    if (field.number === 1) key = await reader.text(field);
    else if (field.number === 2) value = await reader.text(field);
  }
  return [key, value];
}

function findExternal(
  model: ByteSource,
  name: string,
  place: ReadonlyMap<string, string>,
  external: ReadonlyMap<string, ByteSource>,
  expected: number | undefined,
): Initializer['data'] {
  const location = place.get('location') ?? '';
  // The path is only ever a key into the files that were given; it opens nothing.
  const file = external.get(location) ?? external.get(location.slice(location.lastIndexOf('/') + 1));
  if (!file) {
    throw new DreamError(
      'missing-file',
      `${model.name} keeps "${name}" in the file "${location}", which was not given.`,
      'Give all files of the model: the .onnx and every .onnx_data beside it.',
    );
  }
  const integer = (key: string, fallback: number): number => {
    const text = place.get(key);
    if (text === undefined) return fallback;
    return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  };
  const offset = integer('offset', 0);
  const bytes = integer('length', expected ?? file.size - offset);
  if (!(offset + bytes <= file.size)) throw badOnnx(file, `tensor "${name}" reaches beyond the end of the file.`);
  return { file, offset, bytes };
}

/** Two names for the same bytes are fine (a tied head); half the same is damage. */
function refuseOverlap(model: ByteSource, initializers: ReadonlyMap<string, Initializer>): void {
  const byFile = new Map<ByteSource, { name: string; first: number; end: number }[]>();
  for (const { name, data } of initializers.values()) {
    if (!data || data.bytes === 0) continue;
    const spans = byFile.get(data.file) ?? [];
    spans.push({ name, first: data.offset, end: data.offset + data.bytes });
    byFile.set(data.file, spans);
  }
  for (const spans of byFile.values()) {
    spans.sort((a, b) => a.first - b.first || a.end - b.end);
    for (let i = 1; i < spans.length; i++) {
      const before = spans[i - 1];
      const { name, first, end } = spans[i];
      if (first < before.end && !(first === before.first && end === before.end))
        throw badOnnx(model, `tensors "${before.name}" and "${name}" overlap.`);
    }
  }
}
