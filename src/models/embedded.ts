/**
 * @file The embedded household model: one base that plays all three roles by prompt.
 *
 * It is opened twice: the policy is trained, the experience model (and task generator) stays as it was shipped. At this
 * size a second copy costs 4 MB; large models will share one base and carry adapters instead.
 */
import { DreamError } from '../data/errors';
import type { Gpu } from '../gpu/device';
import { configFromJson, type DecoderConfig } from '../nn/config';
import { DecoderModel } from '../nn/decoder-model';
import { PolicyLoss } from '../rl/kernels/policy-loss';
import { fromLlama } from './llama-names';
import { readSafetensors } from './safetensors';
import { Tokenizer } from './tokenizer';

/** Reads one of the model's files: over HTTP in a page, from disk in the terminal. Throws when it is not there. */
export type ReadModelFile = (name: string) => Promise<Uint8Array>;

export interface HouseholdModels {
  policy: DecoderModel;
  experience: DecoderModel;
  tokenizer: Tokenizer;
  manifest: { config: DecoderConfig; metadata: Record<string, string> };
}

export const householdModelFolder = 'models/household-tiny';

/** The files of a folder served beside the page. */
export function readOverHttp(baseUrl: string): ReadModelFile {
  return async (name) => {
    let response: Response;
    try {
      response = await fetch(new URL(`${householdModelFolder}/${name}`, baseUrl));
    } catch (cause) {
      throw missing(name, cause);
    }
    // A static host without the file may answer 200 with a page of its own.
    if (!response.ok || /text\/html/.test(response.headers.get('content-type') ?? '')) throw missing(name);
    return new Uint8Array(await response.arrayBuffer());
  };
}

export function missing(name: string, cause?: unknown): DreamError {
  return new DreamError(
    'model-missing',
    `The embedded model's file "${name}" could not be read.`,
    'Serve the whole build folder (it holds models/household-tiny), or check the connection and reload.',
    { cause },
  );
}

/** Opens the shipped model twice. `source` is the page's address or a reader. */
export async function openHouseholdModels(gpu: Gpu, source: string | ReadModelFile): Promise<HouseholdModels> {
  const read = typeof source === 'string' ? readOverHttp(source) : source;
  const text = async (name: string): Promise<Record<string, unknown>> => {
    const bytes = await read(name);
    try {
      return JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
    } catch (cause) {
      throw new DreamError('bad-model-config', `The embedded model's "${name}" is not JSON.`, 'Get the build again.', {
        cause,
      });
    }
  };
  const [configJson, tokenizerJson, weightBytes] = await Promise.all([
    text('config.json'),
    text('tokenizer.json'),
    read('model.safetensors'),
  ]);
  const config = configFromJson(configJson);
  const tokenizer = Tokenizer.fromJSON(tokenizerJson);
  const { tensors, metadata } = readSafetensors(weightBytes);
  const weights = fromLlama(config, tensors);
  const open = async (): Promise<DecoderModel> => {
    const model = await new DecoderModel(gpu, config, new PolicyLoss(gpu)).prepare();
    model.setWeights(weights);
    return model;
  };
  return { policy: await open(), experience: await open(), tokenizer, manifest: { config, metadata } };
}
