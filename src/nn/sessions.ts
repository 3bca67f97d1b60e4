/**
 * @file Batched generation: many streams, one KV cache, tokens drawn on the GPU.
 *
 * Text is appended lazily; `generate` first computes everything that is pending on its streams (one packed batch, no
 * padding), then decodes all streams together. The chosen token feeds the next step without a read-back; the CPU looks
 * every few steps, drops the finished streams from the batch and goes on.
 */
import { DreamError } from '../data/errors';
import { type GpuBuffer, IDLE_BYTES } from '../gpu/buffers';
import type { Gpu } from '../gpu/device';
import { Activations } from './activations';
import { tileTokens } from './attention-tiles';
import type { Decoder } from './decoder';
import type { Generated, SamplingOptions, Sessions } from './language-model';
import { maskRow, NOTHING_DRAWN, type Sampler } from './sampler';

/** Decode steps between two looks of the CPU. */
const STEPS_PER_LOOK = 4;
/** Tokens computed at once while reading prompts. */
const PREFILL_TOKENS = 2048;

interface Stream {
  /** Tokens whose keys and values are in the cache. */
  cached: number;
  pending: number[];
}

interface Row {
  stream: number;
  result: Generated;
  ended: boolean;
  /** Position of the last token known; the next one goes to position + 1. */
  position: number;
  current: number;
  limit: number;
}

export class DecoderSessions implements Sessions {
  readonly contextLength: number;
  private readonly caches: GpuBuffer[];
  private readonly streams: Stream[];
  /** Tokens computed and wall seconds, for tokens per second. */
  tokensComputed = 0;

  constructor(
    private readonly gpu: Gpu,
    private readonly decoder: Decoder,
    private readonly sampler: Sampler,
    readonly count: number,
  ) {
    const { config, attention } = decoder;
    this.contextLength = config.contextLength;
    const bytes = count * config.contextLength * attention.cacheRowBytes;
    this.caches = Array.from({ length: config.layers }, (_, l) => gpu.alloc(bytes, `kv cache ${l}`));
    this.streams = Array.from({ length: count }, () => ({ cached: 0, pending: [] }));
  }

  length(stream: number): number {
    return this.streams[stream].cached + this.streams[stream].pending.length;
  }

  append(stream: number, tokens: readonly number[]): void {
    const s = this.streams[stream];
    if (s.cached + s.pending.length + tokens.length > this.contextLength) {
      throw new DreamError(
        'context-full',
        `A stream would hold ${s.cached + s.pending.length + tokens.length} tokens; the context is ${this.contextLength}.`,
        'Allow fewer steps per episode, or use a model with a longer context.',
      );
    }
    for (const token of tokens) s.pending.push(token);
  }

  clear(stream: number): void {
    this.streams[stream].cached = 0;
    this.streams[stream].pending = [];
  }

  async generate(streams: readonly number[], options: SamplingOptions): Promise<Generated[]> {
    if (streams.length === 0) return [];
    const rows: Row[] = streams.map((stream) => {
      const length = this.length(stream);
      if (this.streams[stream].pending.length === 0) {
        throw new DreamError(
          'nothing-to-continue',
          'Generation was asked of a stream with nothing appended.',
          'Please report this defect.',
        );
      }
      return {
        stream,
        result: { tokens: [], logProbs: [], stopped: false },
        position: length - 1,
        current: 0,
        ended: false,
        limit: Math.min(length + options.maxNewTokens, this.contextLength),
      };
    });
    const open = rows.filter((row) => row.position + 1 < row.limit);
    const hidden = await this.prefill(
      rows.map((row) => row.stream),
      open,
    );
    await this.decode(open, hidden, options);
    hidden.release();
    for (const row of rows) {
      const s = this.streams[row.stream];
      const drawn = row.result.tokens.length;
      // The last drawn token has not been computed yet: it waits for the next append.
      s.cached += s.pending.length + Math.max(0, drawn - 1);
      s.pending = drawn > 0 ? [row.result.tokens[drawn - 1]] : [];
      row.result.stopped = drawn > 0 && options.stopTokens.includes(row.result.tokens[drawn - 1]);
    }
    return rows.map((row) => row.result);
  }

  async copy(from: number, to: readonly number[]): Promise<void> {
    const source = this.streams[from];
    const { length } = source.pending;
    // The last token stays pending: whoever continues needs its hidden state.
    if (length > 1) {
      const last = source.pending.pop()!;
      (await this.prefill([from], [])).release();
      source.cached += length - 1;
      source.pending = [last];
    }
    const others = to.filter((stream) => stream !== from);
    for (const stream of others) this.streams[stream] = { cached: source.cached, pending: [...source.pending] };
    if (source.cached === 0 || others.length === 0) return;
    const rowBytes = this.decoder.attention.cacheRowBytes;
    const bytes = source.cached * rowBytes;
    const place = (stream: number): number => stream * this.contextLength * rowBytes;
    const rec = this.gpu.record('copy streams');
    const between = this.gpu.alloc(bytes, 'copied stream'); // WebGPU copies between two buffers only
    for (const cache of this.caches) {
      rec.copy(cache, place(from), between, 0, bytes);
      for (const stream of others) rec.copy(between, 0, cache, place(stream), bytes);
    }
    between.release();
    rec.submit();
  }

  /** Computes all pending tokens of `streams`; returns the final hidden state [open, width] of each open row's last token. */
  private async prefill(streams: readonly number[], open: readonly Row[]): Promise<GpuBuffer> {
    const { gpu, decoder } = this;
    const { width } = decoder.config;
    const slot = new Map(open.map((row, i) => [row.stream, i]));
    const tokens: number[] = [];
    const places: number[] = []; // base, position per token
    const wanted: { at: number; slot: number }[] = [];
    let keys = 0;
    for (const stream of streams) {
      const s = this.streams[stream];
      s.pending.forEach((token, i) => {
        tokens.push(token);
        places.push(stream * this.contextLength, s.cached + i);
        keys += s.cached + i + 1;
      });
      const target = slot.get(stream);
      if (target !== undefined) wanted.push({ at: tokens.length - 1, slot: target });
    }
    const hidden = gpu.alloc(Math.max(1, open.length) * width * 4, 'last hidden');
    const chunk = Math.min(PREFILL_TOKENS, tokens.length);
    const acts = new Activations(gpu, decoder.config, chunk, 'none');
    for (let first = 0; first < tokens.length; first += chunk) {
      const t = Math.min(chunk, tokens.length - first);
      const here = wanted.filter((w) => w.at >= first && w.at < first + t);
      const placed = places.slice(first * 2, (first + t) * 2);
      const tiles = tileTokens(placed);
      const uploads = [
        gpu.upload(Uint32Array.from(tokens.slice(first, first + t)), 'tokens'),
        gpu.upload(Uint32Array.from(placed), 'rows'),
        gpu.upload(
          Uint32Array.from(here, (w) => w.at - first),
          'wanted',
        ),
        gpu.upload(
          Uint32Array.from(here, (w) => w.slot),
          'slots',
        ),
        gpu.alloc(Math.max(1, here.length) * width * 4, 'gathered'),
        gpu.upload(tiles, 'attention tiles'),
      ];
      const [tokenBuffer, rowBuffer, from, to, gathered, tileBuffer] = uploads;
      const rec = gpu.record('prefill');
      const batch = {
        t,
        tokens: tokenBuffer,
        rows: rowBuffer,
        meanKeys: keys / tokens.length,
        tiles: { buffer: tileBuffer, count: tiles.length / 4 },
      };
      decoder.forwardCached(rec, batch, acts, this.caches);
      if (here.length > 0) {
        decoder.embedding.gather(rec, acts.final, from, gathered, here.length, width);
        decoder.embedding.scatter(rec, gathered, to, hidden, here.length, width);
      }
      rec.submit();
      for (const buffer of uploads) buffer.release();
      await gpu.throttle();
    }
    acts.release();
    this.tokensComputed += tokens.length;
    return hidden;
  }

  private async decode(open: Row[], firstHidden: GpuBuffer, options: SamplingOptions): Promise<void> {
    const { gpu, decoder, sampler } = this;
    const { vocabSize } = decoder.config;
    let active = open;
    let hidden: GpuBuffer | null = firstHidden;
    while (active.length > 0) {
      const n = active.length;
      const acts = new Activations(gpu, decoder.config, n, 'none');
      const buffers = {
        logits: gpu.alloc(n * vocabSize * 4, 'sample logits'),
        drawn: gpu.alloc(STEPS_PER_LOOK * n * 8, 'drawn'),
        current: gpu.upload(
          Uint32Array.from(active, (row) => row.current),
          'current',
        ),
        rows: gpu.upload(
          Uint32Array.from(active.flatMap((row) => [row.stream * this.contextLength, row.position])),
          'rows',
        ),
        meta: gpu.upload(
          Uint32Array.from(active.flatMap((row) => [options.keyOf?.(row.stream) ?? row.stream, row.limit, 0, 0])),
          'meta',
        ),
        ...this.mask(active, options),
      };
      // A mask depends on the token before: the CPU must look at every one.
      const steps = options.allowed ? 1 : STEPS_PER_LOOK;
      const meanKeys = active.reduce((sum, row) => sum + row.position + 1, 0) / n;
      const rec = gpu.record('decode');
      for (let step = 0; step < steps; step++) {
        let source = hidden;
        if (!source) {
          const batch = { t: n, tokens: buffers.current, rows: buffers.rows, meanKeys };
          decoder.forwardCached(rec, batch, acts, this.caches);
          source = acts.final;
        }
        hidden = null;
        decoder.head.logits(rec, source, buffers.logits, n);
        sampler.record(rec, buffers, n, vocabSize, step, options);
      }
      rec.submit();
      const drawn = await gpu.readU32(buffers.drawn, steps * n * 2);
      const bits = new Float32Array(drawn.buffer);
      active.forEach((row, i) => {
        for (let step = 0; step < steps; step++) {
          const at = (step * n + i) * 2;
          if (drawn[at] === NOTHING_DRAWN) break;
          row.current = drawn[at];
          row.position++;
          row.result.tokens.push(row.current);
          row.result.logProbs.push(bits[at + 1]);
        }
        row.ended = options.onTokens?.(row.stream, row.result.tokens) === true;
      });
      this.tokensComputed += steps * n;
      for (const buffer of Object.values(buffers)) buffer.release();
      acts.release();
      active = active.filter(
        (row) => !row.ended && !options.stopTokens.includes(row.current) && row.position + 1 < row.limit,
      );
    }
  }

  private mask(active: readonly Row[], { allowed }: SamplingOptions): { mask?: GpuBuffer } {
    if (!allowed) return {};
    const { vocabSize } = this.decoder.config;
    const words = Math.ceil(vocabSize / 32);
    const mask = new Uint32Array(active.length * words);
    active.forEach((row, i) => {
      const tokens = allowed(row.stream, row.result.tokens);
      if (tokens !== null && tokens.length === 0) {
        throw new DreamError('nothing-allowed', 'A stream was left no token to draw.', 'Please report this defect.');
      }
      mask.set(maskRow(tokens, vocabSize), i * words);
    });
    return { mask: this.gpu.upload(mask, 'token mask') };
  }

  dispose(): void {
    for (const cache of this.caches) cache.release();
    this.gpu.memory.trimAbove(IDLE_BYTES);
  }
}
