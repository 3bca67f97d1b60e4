/** @file The model card of an exported adapter: what it is, what it was trained on, how to load it. Facts only. */
import type { LoraAdapter } from './adapter';

export interface AdapterFacts {
  /** SPDX identifier; the base model's licence binds the adapter. */
  license?: string;
  /** Shown as a table, in order: settings, seeds, measured rates with their n. */
  facts?: readonly (readonly [name: string, value: string | number])[];
}

/** A line of Markdown that stays one: no control characters, nothing that opens a table cell, a tag or code. */
const plain = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ')
    .replace(/[`|<>[\]]/g, ' ')
    .slice(0, 200);

export function adapterCard(adapter: LoraAdapter, { license, facts = [] }: AdapterFacts): string {
  const { rank, alpha, modules, baseModel } = adapter;
  const base = plain(baseModel) || 'unknown';
  // The hub takes `base_model` for one of its own names only; a file's name would make the card invalid.
  const onHub = /^[\w.-]+\/[\w.-]+$/.test(baseModel);
  const parts = [...new Set([...modules.keys()].map((name) => name.split('.').at(-1) ?? name))].join(', ');
  const table = facts.map(([name, value]) => `| ${plain(name)} | ${plain(String(value))} |\n`).join('');
  return `---
library_name: peft
${onHub ? `base_model: ${baseModel}\nbase_model_relation: adapter\n` : ''}pipeline_tag: text-generation
${license ? `license: ${JSON.stringify(plain(license))}\n` : ''}tags: [lora, grpo, reinforcement-learning, synthetic-experience, browser-trained]
---
# A LoRA for ${base}

Rank ${rank}, alpha ${alpha}, over ${modules.size} linear layers (${plain(parts)}). Trained by DreamGym in the browser: reinforcement
learning on synthetic experience. The rewards it learned from come from a model of the environment, not from the real one;
measure it in the real one before you rely on it.
${table ? `\n| | |\n|---|---|\n${table}` : ''}
## Load it
PEFT:

\`\`\`python
from peft import PeftModel
from transformers import AutoModelForCausalLM

base = AutoModelForCausalLM.from_pretrained("${onHub ? baseModel : 'PATH OF THE BASE MODEL'}")
model = PeftModel.from_pretrained(base, "PATH OF THIS FOLDER")
\`\`\`

llama.cpp takes the GGUF export of the same adapter: \`llama-cli -m base.gguf --lora adapter.gguf\`. vLLM serves this folder with
\`--enable-lora\`. The page that made it loads it back.
`;
}
