/**
 * @file The operators that multiply by weights, as matrices: MatMulNBits, MatMul, Gemm, and the embedding's Gather and
 * GatherBlockQuantized. What is stored in another way is refused by name.
 */
import { DreamError } from '../../data/errors';
import { type GraphWalker, numberOf } from './graph';
import type { BlockMatrix, FloatMatrix, Located, Matrix } from './matrix';
import type { Initializer, Node } from './model';
import { badOnnx } from './protobuf';

export interface Product {
  readonly node: Node;
  readonly matrix: Matrix;
  /** The value that is multiplied. */
  readonly input: string;
  readonly output: string;
  /** A bias that the operator itself adds. */
  readonly bias: Located | null;
}

const isFloat = (type: string): boolean => type === 'F32' || type === 'F16' || type === 'BF16';

function unsupported(walker: GraphWalker, node: Node, what: string): DreamError {
  return new DreamError(
    'unsupported-quantisation',
    `${walker.graph.file.name}: node "${node.name}" (${node.op}) ${what}.`,
    'Take the q4 or q4f16 file of the model (MatMulNBits), the fp16 one, or a GGUF.',
  );
}

/** Weights in forms that only other runtimes compute with. */
const FOREIGN =
  /^(MatMulInteger|MatMulIntegerToFloat|DynamicQuantizeMatMul|QLinearMatMul|QGemm|MatMulBnb4|MatMulFpQ4)$/;

/** Throws `unsupported-quantisation` when a node works on weights we cannot read. */
export function refuseForeign(walker: GraphWalker): void {
  for (const node of walker.graph.nodes)
    if (FOREIGN.test(node.op)) throw unsupported(walker, node, 'works on weights of another quantisation');
}

/** The node as a product with constant weights; null when it is none. */
export function productOf(walker: GraphWalker, node: Node): Product | null {
  const [input = '', second = ''] = node.inputs;
  const [output = ''] = node.outputs;
  if (node.op === 'MatMulNBits') {
    return { node, matrix: matMulNBits(walker, node), input, output, bias: biasOf(walker, node, 5) };
  }
  if (node.op !== 'MatMul' && node.op !== 'Gemm' && node.op !== 'FusedMatMul') return null;
  const constant = walker.constant(second);
  if (!constant) {
    if (walker.maker(second)?.node.op === 'DequantizeLinear')
      throw unsupported(walker, node, 'takes weights from DequantizeLinear, which is not read');
    return null;
  }
  if (constant.tensor.dims.length !== 2) return null; // a scalar, or a batch of matrices: not a layer's weights
  if (node.op !== 'MatMul' && (numberOf(node, 'alpha', 1) !== 1 || numberOf(node, 'transA', 0) !== 0))
    throw unsupported(walker, node, 'scales or transposes its input');
  const flipped = numberOf(node, 'transB', 0) !== 0;
  // MatMul multiplies by [in, out]; one transposition, in the graph or by the operator, means it is stored [out, in].
  const matrix = floatMatrix(walker, node, constant.tensor, constant.turned === flipped);
  const bias = node.op === 'Gemm' ? biasOf(walker, node, 2) : null;
  return { node, matrix, input, output, bias };
}

/** The table behind an embedding look-up; null when the node is none. */
export function tableOf(walker: GraphWalker, node: Node): Matrix | null {
  if (node.op === 'GatherBlockQuantized') return gatherBlocks(walker, node);
  if (node.op !== 'Gather' || numberOf(node, 'axis', 0) !== 0) return null;
  const constant = walker.constant(node.inputs[0] ?? '');
  if (constant?.tensor.dims.length !== 2 || !isFloat(constant.tensor.type)) return null;
  return floatMatrix(walker, node, constant.tensor, constant.turned);
}

function biasOf(walker: GraphWalker, node: Node, input: number): Located | null {
  const value = node.inputs[input] ?? '';
  if (value === '') return null;
  const constant = walker.constant(value);
  return constant ? floats(walker, node, constant.tensor) : null;
}

/** A float tensor with bytes to read. */
export function floats(walker: GraphWalker, node: Node, tensor: Initializer): Located {
  if (!isFloat(tensor.type)) throw unsupported(walker, node, `uses "${tensor.name}" of type ${tensor.type}`);
  return located(walker, node, tensor);
}

function located(walker: GraphWalker, node: Node, tensor: Initializer): Located {
  if (!tensor.data) throw unsupported(walker, node, `uses "${tensor.name}", which is stored number by number`);
  return tensor as Located;
}

function floatMatrix(walker: GraphWalker, node: Node, tensor: Initializer, transposed: boolean): FloatMatrix {
  const values = floats(walker, node, tensor);
  const [first, second] = tensor.dims;
  const [rows, columns] = transposed ? [second, first] : [first, second];
  return { kind: 'floats', rows, columns, values, transposed };
}

function matMulNBits(walker: GraphWalker, node: Node): BlockMatrix {
  const { file } = walker.graph;
  const rows = numberOf(node, 'N', 0);
  const columns = numberOf(node, 'K', 0);
  const blockSize = numberOf(node, 'block_size', 0);
  const bits = numberOf(node, 'bits', 4);
  if (bits !== 4 && bits !== 8) throw unsupported(walker, node, `has ${bits}-bit weights`);
  if (node.inputs[4]) throw unsupported(walker, node, 'reorders its input by groups (g_idx)');
  if (numberOf(node, 'weight_prepacked', 0) !== 0) throw unsupported(walker, node, 'is packed for one kind of GPU');
  if (!(rows > 0 && columns > 0 && blockSize >= 16 && (blockSize & (blockSize - 1)) === 0))
    throw badOnnx(file, `node "${node.name}" has no valid N, K and block_size.`);
  return blocks(walker, node, { rows, columns, blockSize, bits, signed: false, inputs: [1, 2, 3] });
}

function gatherBlocks(walker: GraphWalker, node: Node): BlockMatrix {
  const { file } = walker.graph;
  const data = walker.constant(node.inputs[0] ?? '')?.tensor;
  if (!data || data.dims.length < 2) throw badOnnx(file, `node "${node.name}" has no table of two dimensions.`);
  const bits = numberOf(node, 'bits', 4);
  const blockSize = numberOf(node, 'block_size', 128);
  const axis = numberOf(node, 'quantize_axis', 1);
  if (bits !== 4 && bits !== 8) throw unsupported(walker, node, `has ${bits}-bit weights`);
  if (numberOf(node, 'gather_axis', 0) !== 0 || (axis !== 1 && axis !== -1))
    throw unsupported(walker, node, 'is quantised along another axis');
  const signed = data.type === 'I4' || data.type === 'I8';
  // Shared with a MatMulNBits head, the table is [rows, blocks, bytes], reshaped in the graph to [rows, bytes].
  const [rows, ...rest] = data.dims;
  const stored = rest.reduce((a, b) => a * b, 1);
  const columns = data.type === 'U8' && bits === 4 ? stored * 2 : stored;
  if (!(rows > 0 && columns > 0 && columns % blockSize === 0 && blockSize >= 16))
    throw unsupported(walker, node, `has rows of ${columns} weights in blocks of ${blockSize}`);
  return blocks(walker, node, { rows, columns, blockSize, bits, signed, inputs: [0, 2, 3] });
}

interface BlockShape {
  rows: number;
  columns: number;
  blockSize: number;
  bits: 4 | 8;
  signed: boolean;
  /** Which inputs are codes, scales, zeros. */
  inputs: readonly [number, number, number];
}

/** Checks the parts against each other: nothing is read beyond what the shapes say is there. */
function blocks(walker: GraphWalker, node: Node, shape: BlockShape): BlockMatrix {
  const { file } = walker.graph;
  const { rows, columns, blockSize, bits, signed } = shape;
  const part = (input: number): Located | null => {
    const value = node.inputs[input] ?? '';
    if (value === '') return null;
    const constant = walker.constant(value);
    if (!constant) throw badOnnx(file, `node "${node.name}": "${value}" is not stored in the file.`);
    return located(walker, node, constant.tensor);
  };
  const [codes, scales, zeros] = shape.inputs.map(part);
  if (!codes || !scales) throw badOnnx(file, `node "${node.name}" lacks its weights or scales.`);
  if (!/^[UI][48]$/.test(codes.type)) throw unsupported(walker, node, `has codes of type ${codes.type}`);
  const blocksPerRow = Math.ceil(columns / blockSize);
  const wrong = (tensor: Located): DreamError =>
    new DreamError(
      'wrong-shape',
      `${file.name}: "${tensor.name}" is ${tensor.type} [${tensor.dims}], which does not fit ${rows} rows of ${columns} weights in blocks of ${blockSize}.`,
      'The file is damaged; get it again.',
    );
  if (codes.data.bytes !== (rows * blocksPerRow * blockSize * bits) / 8) throw wrong(codes);
  floats(walker, node, scales);
  const count = (tensor: Located): number => tensor.dims.reduce((a, b) => a * b, 1);
  if (count(scales) !== rows * blocksPerRow) throw wrong(scales);

  let zerosRunOn = false;
  if (zeros) {
    if (isFloat(zeros.type)) {
      if (count(zeros) !== rows * blocksPerRow) throw wrong(zeros);
    } else if (/^[UI][48]$/.test(zeros.type)) {
      zerosRunOn = zeros.type.endsWith('4');
      const bytes = zerosRunOn
        ? Math.ceil((rows * blocksPerRow * bits) / 8)
        : rows * Math.ceil((blocksPerRow * bits) / 8);
      if (zeros.data.bytes !== bytes) throw wrong(zeros);
    } else throw unsupported(walker, node, `has zero points of type ${zeros.type}`);
  }
  const middle = 2 ** (bits - 1);
  return {
    kind: 'blocks',
    rows,
    columns,
    stored: `${node.op} ${bits}/${blockSize}`,
    bits,
    blockSize,
    blocksPerRow,
    codes,
    scales,
    zeros,
    // uint4 tensors (only GatherBlockQuantized has them) mean 0; bytes mean the middle; so does, once unsigned, int4's 0.
    defaultZero: codes.type === 'U4' ? 0 : middle,
    signed,
    zerosRunOn,
  };
}
