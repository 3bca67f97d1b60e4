/** @file Why the trainer refuses a command. */
import { DreamError } from '../data/errors';

export function busy(): DreamError {
  return new DreamError('already-running', 'A run is already under way.', 'Stop it first, or press Resume to go on.');
}

export function nothingToResume(): DreamError {
  return new DreamError(
    'nothing-to-resume',
    'There is no unfinished run in this browser.',
    'Press Start for a new one.',
  );
}

export function nothingToExport(): DreamError {
  return new DreamError(
    'nothing-to-export',
    'There is no run to export yet.',
    'Start a run; it can be exported as soon as its first examination is done.',
  );
}
