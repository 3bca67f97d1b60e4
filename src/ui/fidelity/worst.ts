/** @file The dream's worst mistakes among the episodes kept, each beside what the real world says to the same action. */
import type { Trajectory } from '../../data/trajectory';
import { wordAccuracy, wordsOf } from '../../dream/fidelity/words';

export interface Mistake {
  iteration: number;
  instruction: string;
  turn: number;
  action: string;
  dreamed: string;
  real: string;
  /** It paid for a success that is none, or denied one. */
  reward: 'invented' | 'missed' | null;
}

/** Iterations looked at, newest first: an old mistake may long be mended. */
const newest = 3;

/** Wrong rewards first, then the answers with the fewest right words; one of each episode, no two alike. */
export function worstMistakes(
  rollouts: ReadonlyMap<number, readonly Trajectory[]>,
  upTo: number,
  limit = 5,
): Mistake[] {
  const iterations = [...rollouts.keys()].filter((i) => i <= upTo).sort((a, b) => b - a);
  const found = iterations.slice(0, newest).flatMap((iteration) =>
    rollouts.get(iteration)!.flatMap((trajectory) => {
      const mistake = mistakeOf(trajectory, iteration);
      return mistake ? [{ mistake, badness: badnessOf(mistake) }] : [];
    }),
  );
  const seen = new Set<string>();
  return found
    .sort((a, b) => b.badness - a.badness)
    .map(({ mistake }) => mistake)
    .filter(({ action, dreamed, real }) => {
      const key = `${action}\n${dreamed}\n${real}`;
      return !seen.has(key) && seen.add(key);
    })
    .slice(0, limit);
}

function mistakeOf({ task, turns, replay }: Trajectory, iteration: number): Mistake | null {
  const turn = replay ? turns[replay.firstMismatch] : undefined;
  // Runs recorded before the real text was kept only know where.
  if (!turn || replay?.observation === undefined) return null;
  const real = replay.reward ?? 0;
  return {
    ...{ iteration, instruction: task.instruction, turn: replay.firstMismatch + 1 },
    ...{ action: turn.action, dreamed: turn.observation, real: replay.observation },
    reward: turn.reward > real ? 'invented' : turn.reward < real ? 'missed' : null,
  };
}

function badnessOf({ reward, dreamed, real }: Mistake): number {
  const { right, of } = wordAccuracy(dreamed, real);
  return (reward === null ? 0 : 2) + (of === 0 ? 0 : 1 - right / of);
}

export interface Piece {
  text: string;
  /** In both, in the dream alone (invented), or in the real world alone (missing). */
  of: 'both' | 'dream' | 'real';
}

/** Words beyond which two texts stand side by side as they are: the table grows with their product. */
const longest = 400;

/** The two texts as one, word by word. */
export function difference(dreamed: string, real: string): Piece[] {
  const a = wordsOf(dreamed);
  const b = wordsOf(real);
  if (a.length > longest || b.length > longest)
    return [
      { text: dreamed, of: 'dream' },
      { text: real, of: 'real' },
    ];
  const width = b.length + 1;
  // shared[i, j]: longest common subsequence of what follows word i and word j.
  const shared = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      shared[i * width + j] =
        a[i] === b[j]
          ? shared[(i + 1) * width + j + 1] + 1
          : Math.max(shared[(i + 1) * width + j], shared[i * width + j + 1]);
  const pieces: Piece[] = [];
  const add = (text: string, of: Piece['of']) => {
    const last = pieces.at(-1);
    if (last?.of === of) last.text += ` ${text}`;
    else pieces.push({ text, of });
  };
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      add(a[i++], 'both');
      j++;
    } else if (j >= b.length || (i < a.length && shared[(i + 1) * width + j] >= shared[i * width + j + 1]))
      add(a[i++], 'dream');
    else add(b[j++], 'real');
  }
  return pieces;
}
