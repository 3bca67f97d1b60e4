/** @file A purely dreamed world: a JSON definition instead of code. */
export { type DreamedWorldDefinition, parseDreamedWorld } from './definition';
export {
  type DreamedTaskData,
  type DreamedWords,
  type DreamedWorld,
  dreamedWorld,
} from './world';
