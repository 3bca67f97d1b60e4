/** @file The embedded model's files as any other model's: with the one thing that their tokenizer.json leaves to the library. */
import { householdModelFolder, type ReadModelFile } from '../../models/embedded';
import { BlobSource } from '../../models/sources/blob-source';
import type { ByteSource } from '../../models/weights';

/** @huggingface/tokenizers takes the unknown word of a word-level model from here only. */
const tokenizerConfig = { tokenizer_class: 'PreTrainedTokenizerFast', unk_token: '<unk>' };

export async function embeddedFiles(read: ReadModelFile): Promise<ByteSource[]> {
  const file = (name: string, content: Uint8Array<ArrayBuffer> | string): ByteSource =>
    new BlobSource(new Blob([content]), `${householdModelFolder}/${name}`);
  const names = ['config.json', 'tokenizer.json', 'model.safetensors'];
  const contents = await Promise.all(names.map(async (name) => (await read(name)) as Uint8Array<ArrayBuffer>));
  return [
    ...names.map((name, i) => file(name, contents[i])),
    file('tokenizer_config.json', JSON.stringify(tokenizerConfig)),
  ];
}
