/** @file What the replay buffer knows before the first dream. */
import { HouseholdWorld, TRAINING_ROOM_SEEDS, type WorldSize } from '../../envs/household';
import type { NewTransition } from '../replay-buffer';
import { experienceMixture, type Mixture, playEpisode } from './episodes';
import { episodeSteps } from './sequences';

export interface TransitionOptions {
  seed: number;
  /** At most this many transitions; rooms are visited in turn, so any prefix covers them evenly. */
  limit: number;
  rooms?: readonly number[];
  mixture?: Mixture;
  maxSteps?: number;
}

/** Transitions of scripted players in the training rooms, deterministic from the seed. */
export function offlineTransitions(size: WorldSize, options: TransitionOptions): NewTransition[] {
  const play = {
    size,
    seed: options.seed,
    rooms: options.rooms ?? TRAINING_ROOM_SEEDS,
    mixture: options.mixture ?? experienceMixture,
    maxSteps: options.maxSteps ?? episodeSteps,
  };
  const world = new HouseholdWorld();
  const transitions: NewTransition[] = [];
  for (let i = 0; transitions.length < options.limit; i++) {
    const { id, task, steps } = playEpisode(play, i, world);
    for (const { state, action, observation, reward } of steps) {
      transitions.push({
        source: 'offline',
        episode: `offline-${id}`,
        room: task.room,
        task: task.instruction,
        state,
        action,
        nextState: observation,
        reward,
      });
    }
  }
  return transitions.slice(0, options.limit);
}
