/**
 * @file Sequences into batches: whole sequences laid end to end without padding, and what the kernels need to know of them.
 */
import type { GpuBuffer } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import { tileTokens } from './attention-tiles';
import type { TrainBatch } from './decoder';
import { sortByToken } from './embedding';
import type { TrainSequence } from './language-model';

export interface Pack {
  tokens: Uint32Array;
  /** First token of each sequence. */
  starts: number[];
  /** Which sequences these are, by their index in the caller's list. */
  sequences: number[];
}

/** Whole sequences, in order, into passes of at most `tokensPerPass` tokens (one sequence may exceed it alone). */
export function packSequences(sequences: readonly (readonly number[])[], tokensPerPass: number): Pack[] {
  const packs: Pack[] = [];
  let tokens: number[] = [];
  let pack: Pack = { tokens: new Uint32Array(), starts: [], sequences: [] };
  const close = (): void => {
    if (tokens.length === 0) return;
    pack.tokens = Uint32Array.from(tokens);
    packs.push(pack);
    tokens = [];
    pack = { tokens: new Uint32Array(), starts: [], sequences: [] };
  };
  sequences.forEach((sequence, index) => {
    if (sequence.length === 0) return;
    if (tokens.length > 0 && tokens.length + sequence.length > tokensPerPass) close();
    pack.starts.push(tokens.length);
    pack.sequences.push(index);
    for (const token of sequence) tokens.push(token);
  });
  close();
  return packs;
}

/** Uploads a pack; every buffer made is added to `held`, to be released together after submission. */
export function uploadPack(gpu: Gpu, pack: Pack, vocabSize: number, held: GpuBuffer[]): TrainBatch {
  const t = pack.tokens.length;
  const rows = new Uint32Array(t * 2);
  const ends = new Uint32Array(t);
  let keys = 0;
  pack.starts.forEach((first, i) => {
    const end = pack.starts[i + 1] ?? t;
    for (let at = first; at < end; at++) {
      rows[at * 2] = first;
      rows[at * 2 + 1] = at - first;
      ends[at] = end;
      keys += at - first + 1;
    }
  });
  const tiles = tileTokens(rows);
  const sorted = sortByToken(pack.tokens, vocabSize);
  const up = (data: Uint32Array, label: string): GpuBuffer => hold(held, gpu.upload(data, label));
  return {
    t,
    meanKeys: keys / t,
    tokens: up(pack.tokens, 'tokens'),
    rows: up(rows, 'rows'),
    ends: up(ends, 'ends'),
    tiles: { buffer: up(tiles, 'attention tiles'), count: tiles.length / 4 },
    order: up(sorted.order, 'token order'),
    starts: up(sorted.starts, 'token starts'),
  };
}

export interface LossTokens {
  n: number;
  /** Row of the hidden state that predicts each loss-bearing token. */
  rows: number[];
  targets: number[];
  weights: number[];
  old: number[];
  reference: number[];
  advantages: number[];
  /** First loss token of each sample, and one past the last: [samples + 1]. */
  samples: number[];
  oldValues: number[];
  returns: number[];
  valueWeights: number[];
}

/** The tokens of a pack that bear loss (weight not 0): the head works on these rows only. */
export function lossTokens(pack: Pack, sequences: readonly TrainSequence[]): LossTokens {
  const result: LossTokens = {
    n: 0,
    rows: [],
    targets: [],
    weights: [],
    old: [],
    reference: [],
    advantages: [],
    samples: [],
    oldValues: [],
    returns: [],
    valueWeights: [],
  };
  pack.sequences.forEach((index, i) => {
    const s = sequences[index];
    let sample: number | null = null;
    for (let t = 1; t < s.tokens.length; t++) {
      if (s.weights[t] === 0) continue;
      const own = s.samples?.[t] ?? 0;
      if (own !== sample) result.samples.push(result.rows.length);
      sample = own;
      result.rows.push(pack.starts[i] + t - 1);
      result.targets.push(s.tokens[t]);
      result.weights.push(s.weights[t]);
      result.old.push(s.oldLogProbs?.[t] ?? 0);
      result.reference.push(s.refLogProbs?.[t] ?? 0);
      result.advantages.push(s.advantages?.[t] ?? 0);
      result.oldValues.push(s.oldValues?.[t] ?? 0);
      result.returns.push(s.returns?.[t] ?? 0);
      result.valueWeights.push(s.valueWeights?.[t] ?? s.weights[t]);
    }
  });
  result.n = result.rows.length;
  result.samples.push(result.n);
  return result;
}

/** Remembers a buffer for release, and returns it. */
export function hold(held: GpuBuffer[], buffer: GpuBuffer): GpuBuffer {
  held.push(buffer);
  return buffer;
}
