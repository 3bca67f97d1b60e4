/** @file The places of the room as chips; the agent stands on one of them. */
import type { Trajectory } from '../../data/trajectory';
import { visibleLine } from '../text/visible';
import { roomAfter } from './room';

export function RoomStrip({ rollout, turns }: { rollout: Trajectory; turns: number }) {
  const { places, at, visited, carrying } = roomAfter(rollout, turns);
  if (places.length === 0) return null;
  return (
    <div class="room">
      <ul class="places" aria-label="Places in this room">
        {places.map((place) => (
          <li key={place} class={place === at ? 'place here' : visited.has(place) ? 'place seen' : 'place'}>
            {place === at && <span class="pawn" aria-hidden="true" />}
            {place}
            {place === at && <span class="sr-only"> (the agent is here)</span>}
          </li>
        ))}
      </ul>
      <p class="carrying">
        carries <strong>{carrying ? visibleLine(carrying, 40) : 'nothing'}</strong>
      </p>
    </div>
  );
}
