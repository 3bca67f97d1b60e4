/** @file A few models of the hub that fit different machines. Sizes are the publishers'; the panel asks before it fetches. */

export interface Suggestion {
  id: string;
  title: string;
  about: string;
}

export const suggestions: readonly Suggestion[] = [
  {
    id: 'bartowski/SmolLM2-135M-Instruct-GGUF@main:Q4_K_M',
    title: 'SmolLM2 135M, GGUF',
    about: 'about 0.1 GB; any laptop',
  },
  {
    id: 'HuggingFaceTB/SmolLM2-135M-Instruct@main',
    title: 'SmolLM2 135M, safetensors',
    about: 'about 0.3 GB; the publisher’s own file',
  },
  {
    id: 'Qwen/Qwen2.5-0.5B-Instruct-GGUF@main:q4_k_m',
    title: 'Qwen2.5 0.5B, GGUF',
    about: 'about 0.5 GB; integrated graphics',
  },
  {
    id: 'onnx-community/Llama-3.2-1B-Instruct-ONNX@main:q4f16',
    title: 'Llama 3.2 1B, ONNX q4',
    about: 'about 1 GB; good integrated graphics',
  },
  {
    id: 'onnx-community/Llama-3.2-3B-Instruct-ONNX@main:q4f16',
    title: 'Llama 3.2 3B, ONNX q4',
    about: 'about 2.3 GB; a graphics card of its own',
  },
];
