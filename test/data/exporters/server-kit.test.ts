import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { strFromU8, strToU8, unzipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { writeServerKit } from '../../../src/data/exporters/server-kit';
import { yaml } from '../../../src/data/exporters/server-kit/verl-config';
import { resolveConfig } from '../../../src/dream/presets';
import type { RunConfig, RunRecord } from '../../../src/worker/protocol';
import { evaluationAt, metricsAt, trajectoryOf } from '../../store/snapshots';

/** Text that would be code in a shell, in Python, in YAML, in Markdown, and in OmegaConf. */
const hostile =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what OmegaConf would fill in.
  '"""\n\'); import os; os.system("touch x") #\n${oc.env:HOME} !!python/object: {{x}} `id` \u2028 <b>[a](b)';

function record(config: Partial<RunConfig> = {}): RunRecord {
  const trajectory = trajectoryOf(1);
  return {
    format: 'dreamgym-run',
    version: 1,
    runId: `run-${hostile}`,
    created: '2026-01-01T00:00:00.000Z',
    adapter: 'a',
    model: { label: hostile, sha256: 'f'.repeat(64), rank: 8, alpha: 16, contextLength: 2048, parallel: 4 },
    config: resolveConfig({ seed: 3, klCoef: 0.01, learningRate: 1e-7, ...config }),
    metrics: [metricsAt(1)],
    evaluations: [evaluationAt(0)],
    rollouts: [
      {
        iteration: 1,
        trajectories: [
          { ...trajectory, task: { ...trajectory.task, id: hostile, instruction: hostile, data: { index: 7 } } },
          { ...trajectory, task: { ...trajectory.task, id: 'mug', instruction: 'find a mug' } },
        ],
      },
    ],
    tasks: [],
    weightsHash: null,
  };
}

function unpacked(config: Partial<RunConfig> = {}, adapter?: Map<string, Uint8Array>): Record<string, string> {
  const { zip } = writeServerKit({ record: record(config), adapter });
  return Object.fromEntries(Object.entries(unzipSync(zip)).map(([name, bytes]) => [name, strFromU8(bytes)]));
}

/** With a run's text in a file beside, never in a command. Null where this machine has no such Python. */
function python(code: string, files: Record<string, string>): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'kit-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return execFileSync('python3', ['-c', code], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const { code: missing, stderr = '' } = error as { code?: string; stderr?: string };
    if (missing === 'ENOENT' || /No module named 'yaml'/.test(stderr)) return null;
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const jsonLines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

describe('the server kit', () => {
  it('holds data, adapter, scripts, settings and a README', () => {
    const files = unpacked({}, new Map([['adapter_config.json', strToU8('{}')]]));
    expect(Object.keys(files).sort()).toEqual([
      'README.md',
      'adapter/adapter_config.json',
      'agent_loop.yaml',
      'config.json',
      'data/messages.jsonl',
      'data/preferences.jsonl',
      'data/tasks.jsonl',
      'data/tool-messages.jsonl',
      'data/trl-tasks.jsonl',
      'data/verl-tasks.jsonl',
      'dreamgym_agent_loop.py',
      'metrics.csv',
      'settings.json',
      'train_trl.py',
      'verl_config.yaml',
      'world_client.py',
    ]);
    expect(files['README.md']).toContain('2 tasks');
    expect(files['verl_config.yaml']).toContain('lora_adapter_path: "adapter"');
    expect(unpacked()['verl_config.yaml']).not.toContain('lora_adapter_path');
  });

  it('has the run’s algorithm settings in both engines’ words', () => {
    const files = unpacked({ aggregation: 'token-mean', normalization: 'group-mean', groupSize: 4, clipHigh: 0.28 });
    expect(JSON.parse(files['settings.json'])).toMatchObject({
      seed: 3,
      group_size: 4,
      lora: { rank: 8, alpha: 16 },
      trl: {
        learning_rate: 1e-7,
        num_generations: 4,
        beta: 0.01,
        epsilon: 0.2,
        epsilon_high: 0.28,
        delta: 3,
        loss_type: 'dapo',
        scale_rewards: 'none',
      },
    });
    const config = files['verl_config.yaml'];
    for (const line of [
      'adv_estimator: "grpo"',
      'norm_adv_by_std_in_grpo: false',
      'loss_agg_mode: "token-mean"',
      'clip_ratio_low: 0.2',
      'clip_ratio_high: 0.28',
      'clip_ratio_c: 3',
      'use_kl_loss: true',
      'kl_loss_type: "low_var_kl"',
      'n: 4',
      'lr: 1.0e-7',
    ])
      expect(config).toContain(` ${line}\n`);
  });

  it.each<[Partial<RunConfig>, string]>([
    [{ algorithm: 'ppo' }, 'adv_estimator: "gae"'],
    [{ algorithm: 'rloo' }, 'adv_estimator: "rloo"'],
    [{ algorithm: 'reinforce++' }, 'adv_estimator: "reinforce_plus_plus"'],
    [{ algorithm: 'gspo' }, 'loss_mode: "gspo"'],
    [{ algorithm: 'dapo' }, 'max_num_gen_batches: 4'],
    [{ algorithm: 'dr-grpo' }, 'loss_agg_mode: "seq-mean-token-sum-norm"'],
  ])('knows the other algorithms: %j', (config, line) => {
    expect(unpacked(config)['verl_config.yaml']).toContain(` ${line}\n`);
  });

  it('says what an engine cannot do as the run did', () => {
    const readme = unpacked({ sampleUnit: 'step', lambda: 0.25, algorithm: 'gigpo' })['README.md'];
    expect(readme).toMatch(/sampleUnit step\); TRL weighs whole episodes/);
    expect(readme).toContain('grows new tasks');
    expect(readme).toContain('GiGPO');
  });

  it('never writes a run’s text into code, and quotes it everywhere else', () => {
    const [ours, theirs] = [unpacked(), unpacked({ seed: 4 })];
    for (const name of ['train_trl.py', 'world_client.py', 'dreamgym_agent_loop.py', 'agent_loop.yaml'])
      expect(ours[name]).toBe(theirs[name]);
    expect(ours['verl_config.yaml']).not.toContain('oc.env:HOME');
    expect(ours['README.md']).not.toMatch(/\$\{|<b>|\[a\]|`id`/);
    const [first, second] = jsonLines(ours['data/trl-tasks.jsonl']);
    expect(first).toMatchObject({ task: hostile, index: 7 });
    expect(first.prompt[0].content).toContain(hostile);
    expect(second).toMatchObject({ task: 'mug', index: 1 });
    expect(jsonLines(ours['data/verl-tasks.jsonl'])[0].extra_info).toEqual({ index: 7, task: hostile });
    expect(jsonLines(ours['data/tasks.jsonl'])).toHaveLength(2);
  });

  it('its Python compiles, and reads the settings as they are', () => {
    const files = unpacked();
    const scripts = Object.fromEntries(Object.entries(files).filter(([name]) => /^[^/]+\.(py|json)$/.test(name)));
    const said = python(
      `import glob, json, py_compile
for name in glob.glob("*.py"): py_compile.compile(name, doraise=True)
import world_client
print(json.dumps([world_client.SETTINGS["run"], world_client.action_of("Thought: x\\nAction: go to *shelf* 1\\nAction: no"), world_client.action_of("hm")]))`,
      scripts,
    );
    if (said === null) return;
    expect(JSON.parse(said)).toEqual([record().runId, 'go to *shelf* 1', null]);
  });

  it('its YAML is YAML: what a reader gets is what was meant', () => {
    const value = {
      a: hostile,
      b: [1e-7, 2.5, 1e21, -3],
      c: { d: true, e: null, f: [], g: {} },
      h: [{ i: 'x', j: [['y']] }],
    };
    const text = yaml(value);
    const said = python('import json, yaml; print(json.dumps(yaml.safe_load(open("x.yaml", encoding="utf-8"))))', {
      'x.yaml': text,
    });
    if (said !== null) expect(JSON.parse(said)).toEqual(value);
    const config = python('import json, yaml; print(json.dumps(yaml.safe_load(open("x.yaml", encoding="utf-8"))))', {
      'x.yaml': unpacked()['verl_config.yaml'],
    });
    if (config !== null)
      expect(JSON.parse(config)).toMatchObject({
        defaults: ['ppo_trainer', '_self_'],
        actor_rollout_ref: {
          // biome-ignore lint/suspicious/noTemplateCurlyInString: OmegaConf's own.
          model: { path: '${oc.env:BASE_MODEL}' },
          actor: { optim: { lr: 1e-7, betas: [0.9, 0.95] } },
          rollout: { n: 8, agent: { default_agent_loop: 'dreamgym_world' } },
        },
        trainer: { experiment_name: expect.stringMatching(/^run-[\w.-]+$/) },
      });
    // The same without Python: every line is a key, an item, or both, and every string is quoted JSON.
    for (const line of text.trimEnd().split('\n'))
      expect(line).toMatch(
        /^ *(- )*([a-z_]+:)?( (".*"|-?\d[\d.e+-]*|true|null|\[\]|\{\}))?$|^ *(- )+(".*"|-?\d[\d.e+-]*)$/,
      );
  });
});
