/**
 * @file The way out of the tab: data, adapter and settings of a run as one zip that TRL or verl (Ray) goes on with on a server.
 */
import { strToU8, zipSync } from 'fflate';
import type { RunRecord } from '../../../worker/protocol';
import { adapterEntry } from '../bundle/layout';
import { type Dropped, type MessageOptions, openingMessage, toolPrompt } from '../chat-messages';
import { metricsCsv, zipDate } from '../run-record';
import { episodesOf, messagesJsonl, preferenceJsonl } from '../trl';
import { trlScript, verlAgentLoop, worldClient } from './python';
import { kitReadme } from './readme';
import { kitSettings } from './settings';
import { agentLoopConfig, verlConfig } from './verl-config';

/** What the kit's server needs to enter a task again; a stored run has it, an exported record only for tasks it shows. */
export interface KitTask {
  id: string;
  instruction: string;
  room: string;
  family: string;
  firstObservation: string;
  data: unknown;
}

export interface ServerKit {
  zip: Uint8Array;
  tasks: number;
  episodes: number;
  pairs: number;
  dropped: Dropped[];
}

export interface KitParts extends MessageOptions {
  record: RunRecord;
  /** Tasks to train on; default: those of the record's rollouts. */
  tasks?: readonly KitTask[];
  /** The files of a PEFT folder by name. */
  adapter?: ReadonlyMap<string, Uint8Array>;
}

export function writeServerKit({ record, adapter = new Map(), sentenceOf, ...parts }: KitParts): ServerKit {
  const episodes = episodesOf(record);
  const tasks = parts.tasks ?? tasksOf(episodes.map(({ trajectory }) => trajectory.task));
  const messages = messagesJsonl(episodes, { sentenceOf });
  const toolCalls = messagesJsonl(episodes, { sentenceOf, tools: true });
  const preferences = preferenceJsonl(episodes, { sentenceOf });
  const settings = kitSettings(record);
  const indices = tasks.map(indexOf);
  const files: Record<string, string> = {
    'README.md': kitReadme(settings, {
      tasks: tasks.length,
      episodes: messages.lines,
      pairs: preferences.lines,
      adapter: adapter.size > 0,
    }),
    'settings.json': `${JSON.stringify(settings, null, 2)}\n`,
    'config.json': `${JSON.stringify(record.config, null, 2)}\n`,
    'metrics.csv': metricsCsv(record),
    'data/tasks.jsonl': jsonl(tasks),
    'data/trl-tasks.jsonl': jsonl(
      tasks.map((task, i) => ({
        prompt: [{ role: 'user', content: toolPrompt(task) }],
        index: indices[i],
        task: task.id,
      })),
    ),
    'data/verl-tasks.jsonl': jsonl(
      tasks.map((task, i) => ({
        data_source: 'dreamgym',
        prompt: [{ role: 'user', content: openingMessage(task, '') }],
        reward_model: { style: 'rule', ground_truth: '' },
        extra_info: { index: indices[i], task: task.id },
      })),
    ),
    'data/messages.jsonl': messages.text,
    'data/tool-messages.jsonl': toolCalls.text,
    'data/preferences.jsonl': preferences.text,
    'world_client.py': worldClient,
    'train_trl.py': trlScript,
    'dreamgym_agent_loop.py': verlAgentLoop,
    'verl_config.yaml': verlConfig(record, adapter.size > 0),
    'agent_loop.yaml': agentLoopConfig,
  };
  const mtime = new Date(zipDate);
  const zip = zipSync({
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [name, [strToU8(text), { level: 6, mtime }]])),
    ...Object.fromEntries([...adapter].map(([name, bytes]) => [adapterEntry(name), [bytes, { level: 0, mtime }]])),
  });
  return {
    zip,
    tasks: tasks.length,
    episodes: messages.lines,
    pairs: preferences.lines,
    dropped: [...messages.dropped, ...preferences.dropped],
  };
}

function tasksOf(all: readonly KitTask[]): KitTask[] {
  return [...new Map(all.map((task) => [task.id, task])).values()];
}

/** A remote task has its server's number; a built-in one its line in tasks.jsonl, which `dream serve` reads. */
function indexOf({ data }: KitTask, line: number): number {
  const { index } = (typeof data === 'object' && data !== null ? data : {}) as { index?: unknown };
  return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : line;
}

const jsonl = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
