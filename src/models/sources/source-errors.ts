/** @file What can go wrong between a model's files and us, in words that say what to do. */
import { DreamError } from '../../data/errors';

const reason = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

export function fileRead(name: string, detail: string, cause?: unknown): DreamError {
  return new DreamError(
    'file-read',
    `"${name}" cannot be read: ${detail}.`,
    'If the file was moved, changed or its drive removed, choose it again; if it was downloaded, download it again.',
    { cause },
  );
}

export function unreachable(url: string, cause: unknown): DreamError {
  return new DreamError(
    'network',
    `${new URL(url).host} does not answer: ${reason(cause)}.`,
    'Check the connection, then press Resume: what has arrived is kept. Some networks block the host; a model file from this machine works too.',
    { cause },
  );
}

export function refused(what: string, status: number, detail = ''): DreamError {
  const said = `${status}${detail ? `, ${detail}` : ''}`;
  if (status === 401 || status === 403) {
    return new DreamError(
      'model-gated',
      `${what} is not given to strangers (${said}).`,
      'Check the name. If the model asks you to accept its terms, do so on its page and give a read token here, or download its files yourself and open them.',
    );
  }
  if (status === 404) {
    return new DreamError(
      'model-not-found',
      `${what} does not exist (${said}).`,
      'Check owner, name and revision; they stand at the top of the model’s page.',
    );
  }
  return new DreamError('hub-refused', `${what}: the server answers ${said}.`, 'Try again later, or use a model file.');
}

export function storageFull(neededBytes: number | null, cause?: unknown): DreamError {
  const need = neededBytes === null ? '' : ` (${Math.ceil(neededBytes / 1e6)} MB are still to come)`;
  return new DreamError(
    'storage-full',
    `There is no room left for the model${need}.`,
    'Delete models or runs you no longer need or free space on the disk, then press Resume: what has arrived is kept. A smaller quantisation needs less.',
    { cause },
  );
}

export function hashMismatch(name: string, expected: string, found: string): DreamError {
  return new DreamError(
    'hash-mismatch',
    `"${name}" is not what its publisher uploaded: its hash is ${found}, not ${expected}. It was discarded.`,
    'Download it again. If it happens twice, something on the way changes the file: try another network.',
  );
}

export function stopped(): DreamError {
  return new DreamError(
    'download-stopped',
    'The download was stopped.',
    'What has arrived is kept; start it again to go on.',
  );
}

export function fileInUse(name: string, cause?: unknown): DreamError {
  return new DreamError(
    'file-in-use',
    `Another tab is already writing "${name}".`,
    'Let it finish, or close the other tabs of this page and try again.',
    { cause },
  );
}

export function fileWrite(name: string, detail: string, cause?: unknown): DreamError {
  return new DreamError(
    'storage-failed',
    `"${name}" cannot be kept: ${detail}.`,
    'What has arrived is kept; start the download again. If it happens twice, open the model from a file instead.',
    { cause },
  );
}
