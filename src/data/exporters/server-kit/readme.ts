/** @file The kit's README: what lies where, how to begin, and where the engines cannot do what the run did. */
import type { KitSettings } from './settings';

export interface KitCounts {
  tasks: number;
  episodes: number;
  pairs: number;
  adapter: boolean;
}

/** A run's text in Markdown: one line, nothing that opens a link, a tag, code or a table. */
const plain = (text: string) =>
  text
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/[`|<>[\]()*#\\!${}]/g, ' ')
    .slice(0, 200);

export function kitReadme(settings: KitSettings, counts: KitCounts): string {
  const { base, differences } = settings;
  const list = (items: readonly string[]) => items.map((item) => `- ${item}\n`).join('');
  return `# Going on with run ${plain(settings.run)} on a server

Trained so far in DreamGym, in a browser or on one machine. Here is everything to continue with GRPO in TRL (one machine, one or
more GPUs) or verl (a Ray cluster), with the run's own algorithm settings.

| | |
|---|---|
| settings.json | the algorithm settings, for both engines; config.json has the run's own |
| data/tasks.jsonl | ${counts.tasks} tasks with all that is needed to enter them |
| data/messages.jsonl | ${counts.episodes} successful episodes as conversations, for supervised fine-tuning |
| data/tool-messages.jsonl | the same with tool calls, the form in which TRL's agents act |
| data/preferences.jsonl | ${counts.pairs} pairs prompt / chosen / rejected, for DPO |
| data/trl-tasks.jsonl, data/verl-tasks.jsonl | the tasks as prompts of each engine |
| metrics.csv | the run so far, column "step" first |
| adapter/ | ${counts.adapter ? `a PEFT LoRA for ${plain(base?.label ?? '')}` : 'not there: the run has no adapter, a new one begins'} |
| train_trl.py | GRPO with TRL |
| verl_config.yaml, agent_loop.yaml, dreamgym_agent_loop.py | GRPO with verl |
| world_client.py | both engines' way to the environment server |

## 1. The environment
Both engines play in an environment server that speaks AgentGym's protocol:

- The built-in worlds: \`npm run --silent dream -- serve --tasks data/tasks.jsonl --port 36001\` in the project's folder.
- AgentGym's own servers (textcraft, alfworld, webshop, webarena): start one, and name its dialect.

\`\`\`sh
export DREAMGYM_ENV_URL=http://127.0.0.1:36001 DREAMGYM_ENV_DIALECT=textcraft
\`\`\`

## 2. TRL
\`\`\`sh
pip install "trl>=1.16" "transformers>=5.2" peft datasets
python train_trl.py --model BASE_MODEL
\`\`\`

Where it differs from the run:
${list(differences.trl)}
## 3. verl
\`\`\`sh
pip install "verl>=0.9,<0.10" vllm
export BASE_MODEL=BASE_MODEL PYTHONPATH="$PWD"
python -m verl.trainer.main_ppo --config-path "$PWD" --config-name verl_config trainer.n_gpus_per_node=8
\`\`\`

Where it differs from the run:
${list(differences.verl)}
BASE_MODEL is ${base ? `the model the adapter was trained for: ${plain(base.label)} (checksum ${base.sha256.slice(0, 16)})` : "an instruction-tuned model of your choice: the embedded model of the page is none of a server's formats"}.
Whatever the engines report, measure the result in the real environment: rewards of a dream come from a model of it.
`;
}
