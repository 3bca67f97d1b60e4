/** @file The household world's public surface. */
export { toAbstract, toRaw } from './abstract';
export { type Command, formatCommand, type PutGrammar, parseCommand, type Verb } from './commands';
export { DEMONSTRATOR_KINDS, Demonstrator, type DemonstratorKind, randomAdmissible } from './demonstrators';
export { householdWorld } from './entry';
export { expertAction, expertTarget } from './experts';
export { goalReached } from './goal-test';
export {
  FAMILIES,
  type Family,
  feasibleGoals,
  type Goal,
  goalKey,
  instructionOf,
  isFeasible,
  parseInstruction,
  TEMPLATES,
  treatmentOf,
} from './goals';
export { hashKey, mix32, Random } from './random';
export { generateRoom, type Room, roomKey, TRAINING_ROOM_SEEDS, UNSEEN_ROOM_SEED } from './rooms';
export { HouseholdState, NONE } from './state';
export {
  generateTask,
  type HouseholdData,
  heldOutTasks,
  householdData,
  isHeldOut,
  knownRoomTasks,
  roomView,
  taskFromInstruction,
  trainingTasks,
} from './tasks';
export {
  canContain,
  entityNames,
  OBJECT_TYPES,
  RECEPTACLE_TYPES,
  STATIONS,
  vocabularyOf,
  WORLD_SIZES,
  type WorldSize,
} from './vocabulary';
export { type HouseholdOptions, type HouseholdSnapshot, HouseholdWorld } from './world';
