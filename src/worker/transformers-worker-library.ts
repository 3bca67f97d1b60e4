/**
 * @file transformers.js, set up for a page that loads nothing from elsewhere, and its two tasks that are used here.
 *
 * The runtime's WebAssembly is this site's own file (no other host, no blob: import), on one thread (no further
 * workers). The device is ours, so that half precision is known beforehand. On software adapters it goes without
 * `subgroups`: the runtime's attention is silently wrong there for prompts of 32 tokens and more.
 */
import {
  AutoModelForCausalLM,
  AutoTokenizer,
  env,
  LogLevel,
  pipeline,
  random,
  StoppingCriteria,
  StoppingCriteriaList,
  Tensor,
} from '@huggingface/transformers';
import { DreamError } from '../data/errors';
import type { TransformersModel } from '../dream/text-models/transformers/protocol';
import { chooseWeights, externalData } from '../dream/text-models/transformers/weights';
import { fetchFor, localName, localRoot } from './transformers-worker-files';
import type { GenerateOptions, LoadedEmbedder, LoadedGenerator, Report } from './transformers-worker-service';

env.useWasmCache = false;
env.logLevel = LogLevel.ERROR;
const wasm = env.backends.onnx.wasm;
if (wasm) {
  wasm.wasmPaths = undefined;
  wasm.numThreads = 1;
}

/** The library ignores top-p; this is its own default of how many tokens stay in the draw. */
const topK = 50;
/** Of a model whose configuration does not say. */
const usualContext = 2048;

const wishedLimits = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupSizeY',
  'maxComputeWorkgroupSizeZ',
  'maxComputeWorkgroupsPerDimension',
  'maxStorageBuffersPerShaderStage',
] as const;

interface Device {
  device: GPUDevice;
  halfPrecision: boolean;
}

let opened: Promise<Device> | null = null;

async function openDevice(): Promise<Device> {
  const adapter = await globalThis.navigator?.gpu?.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter)
    throw new DreamError(
      'no-webgpu',
      'The model’s worker was given no graphics processor.',
      'Use a browser with WebGPU, or run this model on the processor (wasm).',
    );
  const { info } = adapter;
  const software =
    info.isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|basic render/i.test(`${info.vendor} ${info.description}`);
  const wished: GPUFeatureName[] = software ? ['shader-f16'] : ['shader-f16', 'subgroups'];
  const device = await adapter.requestDevice({
    requiredFeatures: wished.filter((feature) => adapter.features.has(feature)),
    requiredLimits: Object.fromEntries(wishedLimits.map((limit) => [limit, adapter.limits[limit]])),
  });
  return { device, halfPrecision: device.features.has('shader-f16') };
}

/** Points the library at this model's files. Its settings are global; the worker does one thing at a time. */
function pointAt({ id, source }: TransformersModel, report: Report): string {
  const count = (file: string, loadedBytes: number, totalBytes: number) =>
    report({ phase: 'loading', file, loadedBytes, totalBytes });
  const hub = source.kind === 'hub';
  const read = fetchFor(source, count);
  env.fetch = read;
  env.allowRemoteModels = hub;
  env.allowLocalModels = !hub;
  env.localModelPath = localRoot;
  env.useBrowserCache = hub;
  env.useCustomCache = !hub;
  // A folder is answered as if it were a cache: the library then asks for no size first.
  env.customCache = {
    match: async (address: string) => {
      if (source.kind !== 'folder') return undefined;
      const response = await read(address);
      return response.ok ? response : undefined;
    },
    put: async () => {},
  };
  return hub ? id : localName;
}

const revisionOf = ({ source }: TransformersModel) =>
  source.kind === 'hub' && source.revision ? { revision: source.revision } : {};

async function optionsFor(model: TransformersModel) {
  let gpu: Device | null = null;
  if (model.device === 'webgpu') {
    opened ??= openDevice();
    gpu = await opened;
  }
  const { source } = model;
  const dtype = chooseWeights(model, gpu);
  const parts = source.kind === 'folder' ? externalData(source.files, dtype) : [];
  return {
    dtype,
    device: model.device,
    ...revisionOf(model),
    ...(source.kind === 'folder' ? { use_external_data_format: false } : {}),
    session_options: {
      ...(gpu ? { executionProviders: [{ name: 'webgpu', device: gpu.device } as const] } : {}),
      // Handed over as files: the parts of a large model must not pass through memory as one array each.
      ...(parts.length > 0 ? { externalData: parts } : {}),
    },
  };
}

/** Ends rows where the caller says so. */
class RowsDone extends StoppingCriteria {
  constructor(
    private readonly promptLength: number,
    private readonly isDone: GenerateOptions['isDone'],
  ) {
    super();
  }

  override _call(ids: (number | bigint)[][]): boolean[] {
    return ids.map((row, i) => this.isDone(i, row.slice(this.promptLength).map(Number)));
  }
}

/** The number or numbers under a name that a model's files may or may not have. */
function numbersIn(holder: unknown, name: string): number[] {
  const value = typeof holder === 'object' && holder !== null ? Reflect.get(holder, name) : undefined;
  return (Array.isArray(value) ? value : [value]).filter((entry): entry is number => typeof entry === 'number');
}

async function loadGenerator(model: TransformersModel, report: Report): Promise<LoadedGenerator> {
  const options = await optionsFor(model);
  const name = pointAt(model, report);
  const tokenizer = await AutoTokenizer.from_pretrained(name, revisionOf(model));
  const decoder = await AutoModelForCausalLM.from_pretrained(name, options);
  const context = numbersIn(decoder.config, 'max_position_embeddings').at(0) ?? usualContext;
  const endTokens = new Set(
    [decoder.generation_config, decoder.config, tokenizer].flatMap((holder) => numbersIn(holder, 'eos_token_id')),
  );

  return {
    contextLength: context,
    endTokens,
    encode(messages) {
      const conversation = messages.map(({ role, content }) => ({ role, content }));
      const options = {
        add_generation_prompt: true,
        tokenize: true,
        return_tensor: false,
        return_dict: false,
      } as const;
      return tokenizer.apply_chat_template(conversation, options);
    },
    decode: (tokens) => (tokens.length === 0 ? '' : tokenizer.decode([...tokens], { skip_special_tokens: true })),
    async generate(prompts, { maxNewTokens, temperature, seed, isDone }) {
      const length = prompts[0].length;
      const dims = [prompts.length, length];
      const criteria = new StoppingCriteriaList();
      criteria.push(new RowsDone(length, isDone));
      random.seed(seed);
      const output = await decoder.generate({
        input_ids: new Tensor('int64', BigInt64Array.from(prompts.flat(), BigInt), dims),
        attention_mask: new Tensor('int64', new BigInt64Array(prompts.length * length).fill(1n), dims),
        max_new_tokens: maxNewTokens,
        do_sample: temperature > 0,
        ...(temperature > 0 ? { temperature, top_k: topK } : {}),
        eos_token_id: [...endTokens],
        stopping_criteria: criteria,
      } as Parameters<typeof decoder.generate>[0]);
      const rows = (output as Tensor).tolist() as (number | bigint)[][];
      return rows.map((row) => row.slice(length).map(Number));
    },
    async dispose() {
      await decoder.dispose();
    },
  };
}

async function loadEmbedder(model: TransformersModel, report: Report): Promise<LoadedEmbedder> {
  const options = await optionsFor(model);
  const extract = await pipeline('feature-extraction', pointAt(model, report), options);
  return {
    async embed(texts) {
      const output = await extract([...texts], { pooling: 'mean', normalize: true });
      const dimension = output.dims[output.dims.length - 1];
      const vectors = Float32Array.from(output.data as Float32Array);
      output.dispose();
      return { vectors, dimension };
    },
    async dispose() {
      await extract.dispose();
    },
  };
}

export const transformersLibrary = { loadGenerator, loadEmbedder };
