/** @file What turns a world's own text into the abstract text that experience models learn from. Rules only, no model. */

/** Maps the texts of one episode in order: a page may leave out what an earlier one showed. */
export interface EpisodeStates {
  first(raw: string): string;
  /** Deterministic; the text itself (its spaces folded) where no rule fits. */
  next(action: string, raw: string): string;
}

export interface AbstractStates {
  /** Does an episode with this first observation and these actions come from this world? */
  recognises(first: string, actions: readonly string[]): boolean;
  /** The instruction within the first observation (without its full stop), and the rest of it. */
  split(first: string): { instruction?: string; observation: string };
  begin(): EpisodeStates;
  /** The action in the one grammar that this program speaks. */
  action(raw: string): string;
  /** Task family, where the instruction tells. */
  family(instruction: string): string | undefined;
  /** What tells world instances apart, from the first abstract observation: memories are shared within one. */
  room(first: string): string;
  /** The answer to an action that changed nothing; null where the world's text cannot tell. */
  readonly unchanged: string | null;
}

/** A world whose text needs no memory. */
export const stateless = (map: (raw: string) => string): EpisodeStates => ({
  first: map,
  next: (_, raw) => map(raw),
});
