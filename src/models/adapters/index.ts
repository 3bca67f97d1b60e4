/** @file LoRA adapters as files: the PEFT folder (and its zip) and the GGUF that llama.cpp loads. */
export { checkAdapterFits, type LoraAdapter, type LoraModule } from './adapter';
export type { AdapterFacts } from './card';
export { adapterFromEngine, adapterToEngine, loraSettings } from './engine';
export { type GgufLora, readGgufLora, writeGgufLora } from './gguf-lora';
export { readPeft, writePeft } from './peft';
export { readPeftZip, zipPeft } from './peft-zip';
