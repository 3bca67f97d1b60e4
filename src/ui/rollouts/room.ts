/**
 * @file The room as a small picture: which places it has, where the agent stands, what it carries.
 *
 * Read from the words of the rollout itself (`room shelf 1 ...`, `at shelf 1 see cup 1`, `take cup 1 from shelf 1`),
 * so it shows what was said, be it imagined or real. Words it does not understand simply leave the picture as it was.
 */
import type { Trajectory } from '../../data/trajectory';

export interface RoomPicture {
  places: string[];
  at: string | null;
  visited: ReadonlySet<string>;
  carrying: string | null;
}

const entity = /[a-z]+ \d+/g;
/** More places than this do not fit a phone. */
const mostPlaces = 24;

/** The picture after the first `turns` turns. */
export function roomAfter(rollout: Trajectory, turns: number): RoomPicture {
  const places = (rollout.firstObservation.slice(0, 2000).match(entity) ?? []).slice(0, mostPlaces);
  const visited = new Set<string>();
  let at: string | null = null;
  let carrying: string | null = null;
  for (const { action, observation, valid } of rollout.turns.slice(0, turns)) {
    if (!valid) continue;
    const arrival = /^go to (.+)$/.exec(action)?.[1] ?? /^at ([a-z]+ \d+)/.exec(observation)?.[1];
    if (arrival && places.includes(arrival)) {
      at = arrival;
      visited.add(arrival);
    }
    const taken = /^take ([a-z]+ \d+) from/.exec(action)?.[1];
    if (taken) carrying = taken;
    if (/^(put|move) [a-z]+ \d+ /.test(action)) carrying = null;
  }
  return { places, at, visited, carrying };
}
