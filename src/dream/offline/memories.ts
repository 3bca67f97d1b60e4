/**
 * @file What retrieval would have found: the same action in the same room, from another episode.
 *
 * Training must show the experience model memories as good and as bad as it will get: sometimes none, sometimes not the
 * best one, and always from an episode in which things may already have been moved.
 */
import type { Random } from '../../envs/household';
import type { OfflineEpisode } from './episodes';

export interface MemoryOptions {
  /** Most memories a question gets. */
  topK: number;
  /** Share of questions that get none although there are some. */
  dropRate: number;
  /** Share of questions that get any fitting memory instead of the most similar one. */
  weakRate: number;
}

export const trainingMemories: MemoryOptions = { topK: 1, dropRate: 0.15, weakRate: 0.08 };

/** Similarity is computed for at most this many candidates. */
const longestSearch = 12;

interface Entry {
  episode: number;
  state: string;
  observation: string;
}

export class MemoryBank {
  private readonly places = new Map<string, Entry[]>();

  constructor(episodes: readonly OfflineEpisode[]) {
    for (const [index, { task, steps }] of episodes.entries()) {
      for (const { state, action, observation } of steps) {
        const key = `${task.room}\n${action}`;
        const entries = this.places.get(key);
        const entry = { episode: index, state, observation };
        if (entries) entries.push(entry);
        else this.places.set(key, [entry]);
      }
    }
  }

  /** Remembered next observations for a step of episode number `episode`, most similar previous observation first. */
  recall(
    room: string,
    state: string,
    action: string,
    episode: number,
    options: MemoryOptions,
    random: Random,
  ): string[] {
    const entries = this.places.get(`${room}\n${action}`);
    if (!entries || options.topK === 0 || random.chance(options.dropRate)) return [];
    const weak = random.chance(options.weakRate);
    const words = new Set(state.split(' '));
    const found: { similarity: number; observation: string }[] = [];
    // A random start, so that long lists are searched evenly.
    const start = random.int(entries.length);
    for (let i = 0; i < entries.length && found.length < longestSearch; i++) {
      const entry = entries[(start + i) % entries.length];
      if (entry.episode === episode) continue;
      const similarity = weak ? 0 : entry.state === state ? 2 : overlap(words, entry.state);
      found.push({ similarity, observation: entry.observation });
    }
    found.sort((a, b) => b.similarity - a.similarity);
    return found.slice(0, options.topK).map(({ observation }) => observation);
  }
}

/** Share of common words (Jaccard), below 1. */
function overlap(words: ReadonlySet<string>, text: string): number {
  const others = text.split(' ');
  let common = 0;
  for (const word of others) if (words.has(word)) common++;
  return common / (words.size + others.length);
}
