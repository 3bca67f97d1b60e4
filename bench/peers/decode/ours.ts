/** @file Our engine's decoding: a session of the LanguageModel, from a GGUF or from config.json and ONNX files. */
import { openGpu } from '../../../src/gpu/device';
import { loadModel } from '../../../src/models/load-model';
import { openModelFiles } from '../../../src/models/open-model-files';
import { BlobSource } from '../../../src/models/sources/blob-source';
import type { Contestant, ModelFile } from './rounds.mjs';

export async function prepare(files: ModelFile[]): Promise<Contestant> {
  const gpu = await openGpu(navigator.gpu);
  const source = await openModelFiles(files.map(({ name, blob }) => new BlobSource(blob, name)));
  const model = await loadModel(gpu, source, { contextLength: 128 });
  const sessions = model.sessions(1);
  const draw = async (maxNewTokens: number): Promise<number[]> => {
    const [{ tokens }] = await sessions.generate([0], { temperature: 0, seed: 1, stopTokens: [], maxNewTokens });
    return tokens;
  };
  return {
    async start(prompt) {
      sessions.clear(0);
      sessions.append(0, prompt);
      return (await draw(1))[0];
    },
    more: draw,
  };
}
