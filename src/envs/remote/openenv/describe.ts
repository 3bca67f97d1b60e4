/** @file What an OpenEnv server tells of itself over HTTP: whether it is well, its name, and the form of its actions. */
import { isJsonObject } from '../../../data/json-object';
import { remoteAddress } from '../address';
import { askHttp, goodJson, type HttpOptions } from '../http';
import { plainText } from '../plain-values';
import { type ActionForm, formFromSchema } from './action-form';

export interface OpenEnvDescription {
  /** From /metadata; empty where there is none. */
  name: string;
  description: string;
  form: ActionForm;
}

const line = (value: unknown, limit: number) => (typeof value === 'string' ? plainText(value).slice(0, limit) : '');

/**
 * Asks /metadata and /schema. From a page this needs a relay (OpenEnv's HTTP side sends no CORS headers; its socket needs none).
 * Throws what `askHttp` throws, `remote-action-form`, `remote-garbage`.
 */
export async function describeOpenEnv(url: string, options: HttpOptions = {}): Promise<OpenEnvDescription> {
  const address = remoteAddress(url);
  const schemas = goodJson(address.display, await askHttp(address, { method: 'GET', path: '/schema' }, options));
  const form = formFromSchema(isJsonObject(schemas) ? schemas.action : undefined);
  const about = await askHttp(address, { method: 'GET', path: '/metadata' }, options).catch(() => null);
  const metadata = about && about.status < 400 && isJsonObject(about.json) ? about.json : {};
  return { name: line(metadata.name, 200), description: line(metadata.description, 2000), form };
}
