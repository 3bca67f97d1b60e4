/** @file The language between world and models: three token streams, the reasoning in them, and what text can prove. */
export { Belief, type GoalCheck, type Judgement, typeOf } from './belief';
export { type Contradiction, contradictionIn, supportsSuccess, type ToldStep } from './consistency';
export { householdDialect } from './dialect';
export {
  type ExperienceAnswer,
  experienceAnswer,
  experienceMaxNewTokens,
  experiencePrompt,
  experienceQuestion,
  experienceStopTokens,
  failureObservation,
  isObservation,
  parseExperienceAnswer,
  verdictWeight,
  withoutReward,
} from './experience';
export {
  feasibleAsKnown,
  generatorAnswer,
  generatorMaxNewTokens,
  generatorPrompt,
  generatorStopTokens,
  isNovel,
  knownObjects,
  parseGeneratorAnswer,
} from './generator';
export {
  parsePolicyAnswer,
  policyAnswer,
  policyMaxNewTokens,
  policyObservation,
  policyPrompt,
  policyStopTokens,
  policyTurn,
} from './policy';
export {
  type ExperienceThought,
  experienceThought,
  policyThought,
  readExperienceThought,
  thoughtText,
} from './reasoning';
export { type MalformedReason, type Parsed, type SequenceArrays, type Span, Transcript } from './transcript';
