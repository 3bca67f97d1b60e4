/** @file Walking an ONNX graph: who makes a value, who takes it, which constant stands behind an input. */
import type { Graph, Initializer, Node } from './model';

/** Nodes that change how values lie or their type, not what they are. */
const PASSING = new Set(['Cast', 'CastLike', 'Identity', 'Reshape', 'Squeeze', 'Unsqueeze', 'Transpose', 'Expand']);
/** Selecting positions (the last tokens only, before the head) leaves each row of features whole. */
const SELECTING = new Set(['Slice', 'Gather', 'GatherND']);

/** Walks are short in every decoder; a damaged graph may be a circle. */
export const MAX_HOPS = 64;

export const isPassing = (node: Node): boolean => PASSING.has(node.op);
export const isSelecting = (node: Node): boolean => SELECTING.has(node.op);

export class GraphWalker {
  private readonly makers = new Map<string, { node: Node; output: number }>();
  private readonly takers = new Map<string, Node[]>();

  constructor(readonly graph: Graph) {
    for (const node of graph.nodes) {
      node.outputs.forEach((value, output) => {
        if (value !== '') this.makers.set(value, { node, output });
      });
      for (const value of new Set(node.inputs)) {
        const list = this.takers.get(value);
        if (list) list.push(node);
        else if (value !== '') this.takers.set(value, [node]);
      }
    }
  }

  /** The node that makes a value, and as which of its outputs. */
  maker(value: string): { node: Node; output: number } | undefined {
    return this.makers.get(value);
  }

  consumers(value: string): readonly Node[] {
    return this.takers.get(value) ?? [];
  }

  /** Consumers beyond casts and reshapes, each with the value it takes. */
  *consumersBeyond(value: string): Generator<{ node: Node; value: string }> {
    const queue = [value];
    const seen = new Set(queue);
    for (let i = 0; i < queue.length && i < MAX_HOPS; i++) {
      for (const node of this.consumers(queue[i])) {
        if (!isPassing(node) || node.inputs[0] !== queue[i]) yield { node, value: queue[i] };
        else if (node.outputs.length > 0 && !seen.has(node.outputs[0])) {
          seen.add(node.outputs[0]);
          queue.push(node.outputs[0]);
        }
      }
    }
  }

  /** The initialiser behind a value, through casts and reshapes; `turned` after an odd number of transpositions. */
  constant(value: string): { tensor: Initializer; turned: boolean } | null {
    let at = value;
    let turned = false;
    for (let hops = 0; hops < MAX_HOPS; hops++) {
      const tensor = this.graph.initializers.get(at);
      if (tensor) return { tensor, turned };
      const node = this.makers.get(at)?.node;
      if (!node || !isPassing(node) || node.inputs.length === 0) return null;
      if (node.op === 'Transpose') turned = !turned;
      at = node.inputs[0];
    }
    return null;
  }

  /** The few integers of a constant (sizes of a Split, bounds of a Slice), or null. */
  async integers(value: string): Promise<number[] | null> {
    const tensor = this.graph.initializers.get(value);
    if (!tensor || (tensor.type !== 'I64' && tensor.type !== 'I32')) return null;
    if (!tensor.data) return [...tensor.integers];
    if (tensor.data.bytes > 512) return null;
    const bytes = await tensor.data.file.read(tensor.data.offset, tensor.data.bytes);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const size = tensor.type === 'I64' ? 8 : 4;
    return Array.from({ length: bytes.byteLength / size }, (_, i) =>
      size === 8 ? Number(view.getBigInt64(i * 8, true)) : view.getInt32(i * 4, true),
    );
  }
}

export function numberOf(node: Node, name: string, fallback: number): number {
  const value = node.attributes.get(name);
  return typeof value === 'number' ? value : fallback;
}
