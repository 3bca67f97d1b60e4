/** @file A world defined by JSON, ready to be dreamed by any text model: its text world, tasks and first memories. */
import { type DreamedWorldDefinition, dreamedWorld } from '../../envs/dreamed-world';
import type { Task } from '../../envs/environment';
import { type NewTransition, ReplayBuffer } from '../replay-buffer';
import { plainTextWorld, type TextWorld } from './world';

export interface DreamableWorld {
  name: string;
  world: TextWorld;
  trainingTasks: readonly Task[];
  heldOutTasks: readonly Task[];
  transitions: readonly NewTransition[];
  maxSteps: number;
}

export function dreamable(definition: DreamedWorldDefinition): DreamableWorld {
  const { words, ...rest } = dreamedWorld(definition);
  return { ...rest, world: plainTextWorld(words) };
}

/** A replay buffer that knows the definition's examples. */
export function seededBuffer({ transitions }: DreamableWorld, capacity: number): ReplayBuffer {
  const buffer = new ReplayBuffer(capacity);
  buffer.add(transitions);
  return buffer;
}
