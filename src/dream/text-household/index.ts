/** @file The household in plain English, for models with a chat template. */
export { ChatTurns } from './chat-turns';
export { householdTextDomain } from './domain';
export { type ModelRun, modelRun, textDomainFor } from './model-run';
export {
  constraints,
  defaultTextSettings,
  dreamForms,
  formerTextSettings,
  type TextSettings,
  textSettingRanges,
} from './settings';
export { imitate, type WarmStartOptions, warmStart } from './warm-start';
