/**
 * @file Opens a dream for one iteration, whichever kind of model dreams it: the seam at which a run chooses.
 *
 * The loop knows the buffer, the kernel and the settings; the one who opened the model knows the rest.
 */

import type { LanguageModel } from '../../nn/language-model';
import type { Domain } from '../domain';
import type { DreamOptions } from '../dream-options';
import { DreamedEnvironment } from '../experience-model';
import type { TextEmbedder } from './embedder';
import { type ExperienceEnvironment, type TextDreamOptions, TextExperienceModel } from './experience';
import { bufferRecall, type RecallScope, semanticRecall } from './recall';

/** What the loop gives. */
export type DreamNeeds = Omit<DreamOptions, 'model' | 'domain'>;
export type OpenDream = (needs: DreamNeeds) => ExperienceEnvironment;

/** The engine's own experience model. */
export const engineDreams =
  (model: LanguageModel, domain: Domain): OpenDream =>
  (needs) =>
    new DreamedEnvironment({ ...needs, model, domain });

export interface TextDreams extends Pick<TextDreamOptions, 'model' | 'world' | 'maxTokens' | 'prompt' | 'signal'> {
  /** Absent: the loop's own retrieval (same room, same action). */
  embedder?: TextEmbedder;
  /** With an embedder: whose memories may answer. Default: the room's. */
  scope?: RecallScope;
}

/** Any text model. */
export function textDreams({ embedder, scope, ...own }: TextDreams): OpenDream {
  return ({ buffer, topK, ...settings }) =>
    new TextExperienceModel({
      ...settings,
      ...own,
      recall: embedder ? semanticRecall(buffer, embedder, topK, scope) : bufferRecall(buffer, topK),
    });
}
