/** @file Fidelity: how true a dreamed run is, measured, summed up, and watched. */
export { finiteHorizonBound } from './bound';
export { hasCollapsed } from './collapse';
export { rankCorrelation } from './correlation';
export { type FidelityFlag, type FidelityFlagKind, type FlaggedMetrics, fidelityFlags, newFlags } from './flags';
export { type Fact, householdFacts } from './household-facts';
export { type FidelityReport, measureFidelity, type ReadFacts } from './replay';
export { type Checkpoint, type FidelitySummary, fidelityNumbers, fidelityOf, type MeasuredRun } from './summary';
export { wordAccuracy } from './words';
