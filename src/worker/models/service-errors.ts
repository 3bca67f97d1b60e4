/** @file What the service answers when something cannot be done now, or was ended on purpose. */
import { DreamError } from '../../data/errors';

export const busy = (what: string): DreamError =>
  new DreamError('busy', `One thing at a time: ${what}.`, 'Wait until it is finished, or stop it.');

export const superseded = (): DreamError => new DreamError('superseded', 'Another model was chosen meanwhile.', '');

export const stopped = (): DreamError =>
  new DreamError('stopped', 'It was stopped.', 'Nothing half-finished was left on the graphics processor.');

export const nothingChosen = (): DreamError =>
  new DreamError('nothing-chosen', 'No model is chosen.', 'Choose one first.');

export const nothingLoaded = (): DreamError =>
  new DreamError('nothing-loaded', 'No model is loaded.', 'Load one first.');
