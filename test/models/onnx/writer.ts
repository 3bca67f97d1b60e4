/** A writer of ONNX files: enough protobuf for a graph, its initialisers inside or in a file beside it. */

export interface TensorSpec {
  name: string;
  /** TensorProto.DataType: 1 f32, 2 u8, 7 i64, 10 f16, 16 bf16, 21 u4, 22 i4. */
  type: number;
  dims: number[];
  bytes: Uint8Array;
}

export interface NodeSpec {
  op: string;
  name?: string;
  inputs: string[];
  outputs: string[];
  attributes?: Record<string, number | number[] | { float: number }>;
}

export interface GraphSpec {
  nodes: NodeSpec[];
  tensors: TensorSpec[];
  inputs: string[];
  outputs: string[];
  /** Where the tensors' bytes go; absent = into the model. */
  external?: string;
}

function varint(value: number): number[] {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return bytes;
}

const integer = (field: number, value: number): Uint8Array => Uint8Array.from([...varint(field * 8), ...varint(value)]);

function block(field: number, content: Uint8Array): Uint8Array {
  return new Uint8Array(
    Buffer.concat([Uint8Array.from([...varint(field * 8 + 2), ...varint(content.length)]), content]),
  );
}

const text = (field: number, value: string): Uint8Array => block(field, new TextEncoder().encode(value));
const join = (...parts: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

function attribute(name: string, value: number | number[] | { float: number }): Uint8Array {
  if (typeof value === 'number') return block(5, join(text(1, name), integer(3, value), integer(20, 2)));
  if (Array.isArray(value))
    return block(5, join(text(1, name), block(8, Uint8Array.from(value.flatMap(varint))), integer(20, 7)));
  const float = join(Uint8Array.of(2 * 8 + 5), new Uint8Array(Float32Array.of(value.float).buffer));
  return block(5, join(text(1, name), float, integer(20, 1)));
}

function node({ op, name = '', inputs, outputs, attributes = {} }: NodeSpec): Uint8Array {
  return block(
    1,
    join(
      ...inputs.map((input) => text(1, input)),
      ...outputs.map((output) => text(2, output)),
      text(3, name),
      text(4, op),
      ...Object.entries(attributes).map(([key, value]) => attribute(key, value)),
      text(7, 'com.microsoft'),
    ),
  );
}

/** The .onnx file, and the file beside it (empty when everything is inside). */
export function writeOnnx(spec: GraphSpec): { model: Uint8Array; data: Uint8Array } {
  const outside: Uint8Array[] = [];
  let offset = 0;
  const tensors = spec.tensors.map(({ name, type, dims, bytes }) => {
    const head = [...dims.map((n) => integer(1, n)), integer(2, type), text(8, name)];
    if (!spec.external) return block(5, join(...head, block(9, bytes)));
    const entry = (key: string, value: string | number): Uint8Array =>
      block(13, join(text(1, key), text(2, `${value}`)));
    const place = [entry('location', spec.external), entry('offset', offset), entry('length', bytes.length)];
    const padded = new Uint8Array(Math.ceil(bytes.length / 64) * 64); // as the real writers align
    padded.set(bytes);
    outside.push(padded);
    offset += padded.length;
    return block(5, join(...head, ...place, integer(14, 1)));
  });
  const graph = join(
    ...spec.nodes.map(node),
    text(2, 'graph'),
    ...tensors,
    ...spec.inputs.map((name) => block(11, text(1, name))),
    ...spec.outputs.map((name) => block(12, text(1, name))),
  );
  const model = join(integer(1, 7), text(2, 'test'), block(7, graph), block(8, integer(2, 14)));
  return { model, data: join(...outside) };
}
