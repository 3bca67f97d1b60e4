/** @file Offline data from scripted players: training sequences for the three roles, seed memories, fidelity cases. */
export {
  type EpisodeOptions,
  experienceMixture,
  type Mixture,
  type OfflineEpisode,
  type OfflineStep,
  playEpisode,
  withNegatives,
} from './episodes';
export {
  type Fidelity,
  type FidelityCase,
  type FidelityOptions,
  fidelityCases,
  measureFidelity,
  type Predict,
  predictWith,
  type Share,
} from './fidelity';
export { MemoryBank, type MemoryOptions, trainingMemories } from './memories';
export { relabel } from './relabel';
export {
  demonstrationSteps,
  type ExperienceOptions,
  episodeSteps,
  experienceEpisodes,
  experienceRooms,
  experienceSequences,
  type GeneratorOptions,
  generatorSequences,
  type PolicyOptions,
  policySequences,
  tellExperience,
  tellPolicy,
} from './sequences';
export { offlineTransitions, type TransitionOptions } from './transitions';
