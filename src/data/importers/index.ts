/** @file Everyone's trajectory files: one streaming import, a report of what was kept and dropped, and what to do with it. */
export { type ImportedData, type ImportedEpisode, importedData, type OutcomeKnown } from './episode';
export { type ImportFormat, importFormats } from './formats';
export { type ImportOptions, type ImportProgress, importTrajectories } from './import';
export type { Dropped, WorldName } from './pieces';
export type { ImportReport } from './report';
export {
  type TransitionExample,
  transitionExamples,
  transitionsOf,
} from './transitions';
