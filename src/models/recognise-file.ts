/**
 * @file What a picked or dropped file is, by its content: names are changed by downloads (`config (1).json`) and by people.
 * Only where contents do not differ (settings of Hugging Face) does the name help.
 */
import { DreamError } from '../data/errors';
import { isJsonObject } from '../data/json-object';
import type { Json } from './families';
import { baseName } from './sources/path';
import type { ByteSource } from './weights';

export type FileKind =
  | { kind: 'gguf' | 'safetensors' | 'onnx' | 'pickle' | 'other' }
  | { kind: 'config' | 'index' | 'tokenizer' | 'tokenizer-config' | 'generation-config' | 'adapter-config'; json: Json }
  | { kind: 'chat-template'; text: string };

/** The largest tokenizer.json known has 33 MB. */
const MAX_JSON_BYTES = 2 ** 27;
const MAX_TEMPLATE_BYTES = 2 ** 20;

const needed = new Set(['config.json', 'model.safetensors.index.json', 'tokenizer.json', 'tokenizer_config.json']);

/** Throws `file-read`, and `bad-json` for a settings file that is damaged. */
export async function recogniseFile(file: ByteSource): Promise<FileKind> {
  const name = baseName(file.name);
  if (name.endsWith('.jinja') && file.size <= MAX_TEMPLATE_BYTES)
    return { kind: 'chat-template', text: new TextDecoder().decode(await file.read(0, file.size)) };
  const head = await file.read(0, Math.min(16, file.size));
  const starts = (...bytes: number[]): boolean => bytes.every((byte, i) => head[i] === byte);
  if (starts(0x47, 0x47, 0x55, 0x46)) return { kind: 'gguf' };
  // A zip (`PK`) or a bare pickle: PyTorch's files, which can carry programs.
  if (starts(0x50, 0x4b, 3, 4) || (starts(0x80) && head[1] >= 2 && head[1] <= 5)) return { kind: 'pickle' };
  if (isSafetensors(head, file.size) || name.endsWith('.safetensors')) return { kind: 'safetensors' };
  if (name.endsWith('.onnx') || (isOnnx(head) && !/data/.test(name))) return { kind: 'onnx' };
  const looksLikeJson = head[0] === 0x7b || /^\s*\{/.test(new TextDecoder().decode(head));
  if ((looksLikeJson || name.endsWith('.json')) && file.size <= MAX_JSON_BYTES) return recogniseJson(file, name);
  return { kind: 'other' };
}

/** Eight bytes of header length, then JSON. */
function isSafetensors(head: Uint8Array<ArrayBuffer>, size: number): boolean {
  if (head.length < 9 || head[8] !== 0x7b) return false;
  const headerBytes = Number(new DataView(head.buffer, head.byteOffset).getBigUint64(0, true));
  return headerBytes >= 2 && headerBytes <= size - 8;
}

/** A protobuf that begins with field 1 (ir_version, small) and goes on with another field of ModelProto. */
function isOnnx(head: Uint8Array): boolean {
  return head[0] === 0x08 && head[1] < 0x20 && [0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42, 0x72].includes(head[2]);
}

async function recogniseJson(file: ByteSource, name: string): Promise<FileKind> {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(await file.read(0, file.size)));
  } catch (cause) {
    if (cause instanceof DreamError) throw cause;
    // Whatever else lies in a folder (Python writes NaN into some logs) does not concern us.
    if (!needed.has(name)) return { kind: 'other' };
    throw new DreamError('bad-json', `"${file.name}" is not JSON.`, 'The file is damaged; get it again.', { cause });
  }
  if (!isJsonObject(json)) return { kind: 'other' };
  const settings = json as Json;
  const has = (key: string): boolean => Object.hasOwn(settings, key);
  if (has('weight_map')) return { kind: 'index', json: settings };
  if (has('peft_type')) return { kind: 'adapter-config', json: settings };
  if (has('model') && typeof settings.model === 'object') return { kind: 'tokenizer', json: settings };
  if (has('hidden_size') || (has('architectures') && has('model_type'))) return { kind: 'config', json: settings };
  // special_tokens_map.json repeats a part of tokenizer_config.json.
  if (name.startsWith('special_tokens_map')) return { kind: 'other' };
  if (
    has('tokenizer_class') ||
    has('chat_template') ||
    has('added_tokens_decoder') ||
    name.startsWith('tokenizer_config')
  )
    return { kind: 'tokenizer-config', json: settings };
  if (name.startsWith('generation_config')) return { kind: 'generation-config', json: settings };
  return { kind: 'other' };
}
