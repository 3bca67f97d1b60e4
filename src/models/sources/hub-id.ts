/**
 * @file The name of a model on the hub: `owner/name@revision`, and where one repository holds several versions of it,
 * `:version` behind (`owner/name:Q4_K_M`, `owner/name@main:onnx/model_q4.onnx`), as Ollama and llama.cpp write it.
 */
import { DreamError } from '../../data/errors';

/** The public hub. A mirror with the same addresses may stand in for it. */
export const HUB_HOST = 'https://huggingface.co';

export interface HubId {
  owner: string;
  name: string;
  /** A branch, a tag or a commit. */
  revision: string;
  /** A quantisation, a format (`gguf`, `onnx`, `safetensors`) or a file's path; null = the best for us. */
  version: string | null;
}

const part = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?$/;
// Git's own rules for names, a little stricter.
const revisionPattern = /^(?!.*(?:\.\.|\/\/|@\{|\.lock(?:\/|$)))[A-Za-z0-9][A-Za-z0-9._/+-]{0,198}$/;
const versionPattern = /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[A-Za-z0-9][A-Za-z0-9._/+ -]{0,198}$/;

/** Throws `bad-model-id`. */
export function parseHubId(text: string): HubId {
  const bad = (why: string): DreamError =>
    new DreamError(
      'bad-model-id',
      `${JSON.stringify(text.slice(0, 200))} is not the name of a model: ${why}.`,
      'Write owner/name, owner/name@revision, or owner/name@revision:version, for example HuggingFaceTB/SmolLM2-135M-Instruct@main.',
    );
  const trimmed = text.trim();
  if (/^[a-z]+:\/\//i.test(trimmed)) throw bad('it is an address');
  const colon = trimmed.indexOf(':');
  const version = colon < 0 ? null : trimmed.slice(colon + 1);
  const front = colon < 0 ? trimmed : trimmed.slice(0, colon);
  const at = front.indexOf('@');
  const revision = at < 0 ? 'main' : front.slice(at + 1);
  const [owner, name, ...more] = (at < 0 ? front : front.slice(0, at)).split('/');
  if (name === undefined || more.length > 0) throw bad('it does not have the two parts owner/name');
  for (const piece of [owner, name]) {
    if (!part.test(piece) || piece.includes('..') || piece.includes('--') || piece.endsWith('.git'))
      throw bad(`"${piece}" can be no owner and no model`);
  }
  if (!revisionPattern.test(revision) || /[./]$/.test(revision))
    throw bad('the revision can be no branch, tag or commit');
  if (version !== null && !versionPattern.test(version))
    throw bad('the version behind ":" can be no quantisation and no file');
  return { owner, name, revision, version };
}

export function formatHubId({ owner, name, revision, version }: HubId): string {
  return `${owner}/${name}@${revision}${version === null ? '' : `:${version}`}`;
}

const encodePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** Where a file of a repository is. Pass a commit, so that nothing changes during a download. */
export function fileAddress(host: string, repository: string, commit: string, path: string): string {
  return `${host}/${repository}/resolve/${encodeURIComponent(commit)}/${encodePath(path)}`;
}
