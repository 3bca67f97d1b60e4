/** @file The four judge scores of dreamed transitions: by any text model, and by rule where the truth is known. */
export { type AxisScore, agreement, type JudgeOptions, type JudgeReport, judgeWith, reportOf } from './judge';
export { type MalformedVerdict, parseVerdict, type Verdict } from './parse';
export { type Axis, type AxisKey, axes, judgeMessages, type Scores } from './rubric';
export { judgeByRules, type KnowingDomain } from './rules';
export { dreamedTransitions, type JudgedTransition, sampleTransitions } from './sample';
