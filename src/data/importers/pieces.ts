/**
 * @file What flows through an import: containers cut a byte stream into pieces, formats turn pieces into findings.
 *
 * Both sides hand on one thing at a time and name its place, so that nothing disappears without a trace.
 */

/** Not kept, and why. `where` is a place in the file a person can go to: `line 12`, `pick_two_obj / trial_T2019 / turn 3`. */
export interface Dropped {
  where: string;
  why: string;
}

/** One complete entry of the container, still as bytes: at most `maxPieceBytes`, valid until the next piece is asked for. */
export interface Piece {
  where: string;
  /** Keys from the root of a JSON file down to this entry; empty elsewhere. */
  path: readonly string[];
  bytes: Uint8Array;
}

/** Cuts a byte stream. Generators, so that a chunk which unpacks to many pieces is taken one by one. */
export interface Splitter {
  push(chunk: Uint8Array): Iterable<Piece | Dropped>;
  end(): Iterable<Piece | Dropped>;
}

export interface FoundTurn {
  thought: string;
  /** As the file has it, without prefixes such as `Action:`. */
  action: string;
  /** The world's answer; null when the file does not have it. */
  observation: string | null;
  /** The answer in the abstract language, where the format knows it better than its text does. */
  state?: string;
  /** False when the file says that this turn is not to be learned from. Default true. */
  train?: boolean;
  /** Reward of this very step, where the file has one. */
  reward?: number;
}

/** An episode in the file's own words. */
export interface FoundEpisode {
  where: string;
  /** The file's own name for it. */
  id?: string;
  world?: WorldName;
  instruction?: string;
  /** The first observation; may still contain the instruction. null when the file does not have it. */
  first: string | null;
  /** `first` in the abstract language, where the format knows it better. */
  firstState?: string;
  turns: FoundTurn[];
  /** Final reward; null when the file does not say. */
  outcome: number | null;
  /** The format holds successes only, and this one does not say otherwise. */
  assumed?: boolean;
  /** System prompt and the like: kept, but no part of the episode. */
  preamble?: string;
  /** Task family as the file names it. */
  family?: string;
  /** World instance as the file names it. */
  room?: string;
  /** Of a pair: which side this is. */
  preference?: 'chosen' | 'rejected';
}

export type WorldName = 'household' | 'shop' | 'web' | 'text';

export type Finding = { episode: FoundEpisode } | Dropped;

/** One file format. `read` gets pieces in order; readers of line formats keep what belongs together. */
export interface FormatReader {
  read(piece: Piece): Iterable<Finding>;
  end(): Iterable<Finding>;
}

export const isDropped = (thing: Piece | Dropped | Finding): thing is Dropped => 'why' in thing;
