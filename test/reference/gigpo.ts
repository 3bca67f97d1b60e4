/**
 * @file GiGPO's advantages in double precision: A = A(episode in its group) + w A(turn among the turns of its group that began
 * from the same observation), from episodes of (observation before, reward) per turn.
 */
import { advantages } from './advantages';

export interface AnchoredEpisode {
  group: number;
  turns: readonly { observation: string; reward: number }[];
}

export function gigpo(
  episodes: readonly AnchoredEpisode[],
  settings: { gamma: number; weight: number; mode: 'group-std' | 'group-mean'; eps: number },
): number[][] {
  const scale = { mode: settings.mode, eps: settings.eps, rawSingleton: false };
  /** Advantage of each value among those with its key. */
  const among = (values: readonly number[], keys: readonly string[]): number[] => {
    const result = values.map(() => 0);
    for (const key of new Set(keys)) {
      const members = keys.map((_, i) => i).filter((i) => keys[i] === key);
      const [own] = advantages([members.map((i) => values[i])], scale).advantages;
      members.forEach((i, j) => {
        result[i] = own[j];
      });
    }
    return result;
  };
  const totals = episodes.map(({ turns }) => turns.reduce((sum, turn) => sum + turn.reward, 0));
  const episodic = among(
    totals,
    episodes.map(({ group }) => String(group)),
  );
  const following = episodes.map(({ turns }) =>
    turns.map((_, t) => turns.slice(t).reduce((sum, turn, k) => sum + settings.gamma ** k * turn.reward, 0)),
  );
  const steps = among(
    following.flat(),
    episodes.flatMap(({ group, turns }) => turns.map(({ observation }) => `${group} ${observation}`)),
  );
  let at = 0;
  return episodes.map(({ turns }, i) => turns.map(() => episodic[i] + settings.weight * steps[at++]));
}
