/** @file One step of somebody's play, as a memory for the replay buffer (without the id that the buffer gives it). */

export interface OfflineTransition {
  source: 'offline';
  episode: string;
  room: string;
  task: string;
  state: string;
  action: string;
  nextState: string;
  reward: number;
}
