/** @file Early Experience: alternatives at demonstrated states, and the two data sets made of them. */
export { type Branch, type BranchRequest, exploreBranches, type Outcome } from './branches';
export { type Leak, type LeakKind, reflectionLeaks } from './leaks';
export { reflectionOf, reflectionSequences } from './reflection';
export { worldModellingSequences } from './world-modelling';
