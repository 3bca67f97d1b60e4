/** @file Experience models of other kinds behind one interface, and embeddings. */
export { type MalformedAnswer, type ParsedAnswer, parseTextAnswer, type TextAnswer } from './answer';
export { type BuiltInOptions, builtInAvailability, openBuiltInModel } from './built-in';
export { type DreamNeeds, engineDreams, type OpenDream, type TextDreams, textDreams } from './dreams';
export { engineEmbedder, type TextEmbedder } from './embedder';
export { type EndpointOptions, type EndpointTextModel, endpointTextModel } from './endpoint/model';
export { type ChatCodec, engineTextModel } from './engine-model';
export { type ExperienceEnvironment, type TextDreamOptions, TextExperienceModel } from './experience';
export { householdTextWorld } from './household-world';
export { experienceMessages } from './prompt';
export { bufferRecall, type Recall, type RecallScope, semanticRecall } from './recall';
export { borrowTextModel, lendTextModel } from './remote-model';
export type {
  TextCompletion,
  TextMessage,
  TextModel,
  TextModelKind,
  TextModelLimits,
  TextRequest,
  TextToken,
} from './text-model';
export { type HostOptions, type KillableWorker, TransformersHost } from './transformers/host';
export { transformersEmbedder, transformersTextModel } from './transformers/models';
export type { ModelSource, TransformersModel, TransformersProgress, WeightType } from './transformers/protocol';
export { plainTextWorld, type TextWorld, textWorldOf } from './world';
