/** @file Enough protobuf to write an ONNX graph whose larger tensors lie in a file beside it. */

/**
 * @typedef {{name: string, type: number, dims: (number | string)[]}} Value type: TensorProto.DataType (1 f32, 2 u8, 6 i32, 7 i64)
 * @typedef {{op: string, inputs: string[], outputs: string[], domain?: string,
 *   attributes?: Record<string, number | number[] | {float: number}>}} Node
 * @typedef {{name: string, type: number, dims: number[], bytes: Uint8Array} |
 *   {name: string, type: number, dims: number[], offset: number, length: number}} Tensor
 */

/** @param {number} value @returns {number[]} */
function varint(value) {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes = [];
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return bytes;
}

/** @param {number} field @param {number} value */
const integer = (field, value) => Uint8Array.from([...varint(field * 8), ...varint(value)]);
/** @param {Uint8Array[]} parts */
const join = (...parts) => new Uint8Array(Buffer.concat(parts));
/** @param {number} field @param {Uint8Array[]} content */
const block = (field, ...content) => {
  const whole = join(...content);
  return join(Uint8Array.from([...varint(field * 8 + 2), ...varint(whole.length)]), whole);
};
/** @param {number} field @param {string} value */
const text = (field, value) => block(field, new TextEncoder().encode(value));

/** @param {[string, number | number[] | {float: number}]} entry */
function attribute([name, value]) {
  if (typeof value === 'number') return block(5, text(1, name), integer(3, value), integer(20, 2));
  if (Array.isArray(value)) return block(5, text(1, name), ...value.map((each) => integer(8, each)), integer(20, 7));
  const float = join(Uint8Array.of(2 * 8 + 5), new Uint8Array(Float32Array.of(value.float).buffer));
  return block(5, text(1, name), float, integer(20, 1));
}

/** @param {Node} node @param {number} index */
const node = ({ op, inputs, outputs, domain = '', attributes = {} }, index) =>
  block(
    1,
    ...inputs.map((name) => text(1, name)),
    ...outputs.map((name) => text(2, name)),
    text(3, `${op}_${index}`),
    text(4, op),
    ...Object.entries(attributes).map(attribute),
    text(7, domain),
  );

/** @param {Tensor} tensor @param {string} file */
function initializer(tensor, file) {
  const head = [...tensor.dims.map((n) => integer(1, n)), integer(2, tensor.type), text(8, tensor.name)];
  if ('bytes' in tensor) return block(5, ...head, block(9, tensor.bytes));
  /** @param {string} key @param {string | number} value */
  const entry = (key, value) => block(13, text(1, key), text(2, `${value}`));
  const place = [entry('location', file), entry('offset', tensor.offset), entry('length', tensor.length)];
  return block(5, ...head, ...place, integer(14, 1));
}

/** @param {number} field @param {Value} value */
const valueInfo = (field, { name, type, dims }) => {
  const shape = dims.map((n) => block(1, typeof n === 'number' ? integer(1, n) : text(2, n)));
  return block(field, text(1, name), block(2, block(1, integer(1, type), block(2, ...shape))));
};

/**
 * The .onnx file's bytes.
 * @param {{nodes: Node[], tensors: Tensor[], inputs: Value[], outputs: Value[]}} graph
 * @param {string} file Where the tensors without bytes lie.
 */
export function writeOnnx({ nodes, tensors, inputs, outputs }, file) {
  const body = [
    ...nodes.map(node),
    text(2, 'decoder'),
    ...tensors.map((tensor) => initializer(tensor, file)),
    ...inputs.map((value) => valueInfo(11, value)),
    ...outputs.map((value) => valueInfo(12, value)),
  ];
  const opset = (/** @type {string} */ domain, /** @type {number} */ version) =>
    block(8, text(1, domain), integer(2, version));
  return join(integer(1, 7), text(2, 'dreamgym-peers'), block(7, ...body), opset('', 14), opset('com.microsoft', 1));
}
