/** @file Every format, by name. */
import type { FormatReader } from '../pieces';
import { ActionTagsReader } from './action-tags';
import { AdaptReader } from './adapt';
import { AlfworldTextReader, TranscriptReader } from './alfworld-transcript';
import { AtifReader } from './atif';
import { ConversationReader } from './conversation';
import { LatsLogReader } from './lats-log';
import { ReactTextReader } from './react-text';
import { ReflexionReader } from './reflexion';
import { TrajectoryReader } from './trajectory';
import { WebarenaHtmlReader } from './webarena-html';
import { WebarenaJsonReader } from './webarena-json';
import { WebshopLogReader } from './webshop-log';

const readers = {
  'openai-messages': () => new ConversationReader(),
  sharegpt: () => new ConversationReader(),
  agentgym: () => new ConversationReader({ assumeSuccess: true }),
  'react-alfworld': () => new TranscriptReader(),
  'alfworld-text': () => new AlfworldTextReader(),
  'react-text': () => new ReactTextReader(),
  'lats-log': () => new LatsLogReader(),
  adapt: () => new AdaptReader(),
  'webshop-log': () => new WebshopLogReader(),
  'webarena-html': () => new WebarenaHtmlReader(),
  'webarena-json': () => new WebarenaJsonReader(),
  atif: () => new AtifReader(),
  reflexion: () => new ReflexionReader(),
  'action-tags': () => new ActionTagsReader(),
  trajectory: () => new TrajectoryReader(),
} satisfies Record<string, () => FormatReader>;

export type ImportFormat = keyof typeof readers;

export const importFormats = Object.keys(readers) as ImportFormat[];

export const openReader = (format: ImportFormat): FormatReader => readers[format]();
