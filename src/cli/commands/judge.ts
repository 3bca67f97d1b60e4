/** @file `dream judge`: the four scores of a run's dreamed transitions, by a model of one's choice and by the world's rules. */
import { writeFile } from 'node:fs/promises';
import { asDreamError, DreamError } from '../../data/errors';
import { householdDomain } from '../../dream/household';
import {
  agreement,
  axes,
  dreamedTransitions,
  type JudgedTransition,
  type JudgeReport,
  judgeByRules,
  judgeMessages,
  judgeWith,
  reportOf,
  type Scores,
  sampleTransitions,
} from '../../dream/judge';
import { endpointTextModel } from '../../dream/text-models/endpoint/model';
import { type ChatCodec, engineTextModel } from '../../dream/text-models/engine-model';
import type { TextModel } from '../../dream/text-models/text-model';
import { householdTokenizer } from '../../models/household-vocabulary';
import type { RunRecord } from '../../worker/protocol';
import type { CommandIo } from '../command';
import { describeOptions, type OptionSpecs, parseOptions, UsageError } from '../options';
import { openRun } from '../run-files';

const options = {
  run: { type: 'string', value: 'DIR|FILE', help: 'whose dreams: a run’s folder, an exported run or a bundle' },
  'judge-endpoint': {
    type: 'string',
    value: 'URL',
    help: 'judge by an OpenAI-compatible server; its key in DREAM_ENDPOINT_KEY',
  },
  'judge-model': { type: 'string', value: 'NAME', help: 'the model to ask it for (--judge-endpoint)' },
  model: {
    type: 'string',
    value: 'PATH',
    help: 'judge by this model on this machine: a .gguf, or a folder with a chat template',
  },
  count: { type: 'integer', help: 'transitions to judge, drawn from the run’s kept rollouts', default: 100, min: 1 },
  seed: { type: 'integer', help: 'of the draw, and of the judge', default: 1, min: 0 },
  temperature: { type: 'number', help: 'of the judge; 0 = its likeliest answer', default: 0, min: 0, max: 2 },
  'max-tokens': {
    type: 'integer',
    help: 'room for a verdict; a model that thinks first needs more',
    default: 256,
    min: 16,
    max: 8192,
  },
  out: { type: 'string', value: 'FILE.jsonl', help: 'write each transition with its verdicts' },
} as const satisfies OptionSpecs;

export const help = `Usage: dream judge --run DIR|FILE [--judge-endpoint URL --judge-model NAME | --model PATH]

Consistency, diversity, informativeness and honest feedback of dreamed transitions, 0 to 2 each, higher is better
(DreamGym, appendix C.4; the rubric: src/dream/judge/rubric.ts). Answers that are no verdict are counted, not scored.
Where the world knows the truth its rules judge the same transitions, and the agreement is shown. Without a model: rules only.

${describeOptions(options)}
  --json             {"run","transitions","judge":{"judge","judged","malformed","reasons","scores":{AXIS:{"mean","low",
                     "high","counts"}}}|null,"rules":{...}|null,"agreement":{AXIS}|null}`;

export async function run(args: string[], io: CommandIo): Promise<void> {
  const values = parseOptions(args, options);
  if (values.run === undefined)
    throw new UsageError('bad-option', 'No run was named.', 'Add --run with a folder that `dream train` wrote.');
  checkJudge(values);
  const { record, notices } = await openRun(io.resolve(values.run));
  for (const notice of notices) io.note(notice);
  const transitions = sampleTransitions(dreamedTransitions(record.rollouts), values.count, values.seed);
  if (transitions.length === 0)
    throw new DreamError(
      'no-dreams',
      `${values.run} keeps no dreamed episodes.`,
      'Name a run that practised in the dream; exports without rollouts cannot be judged.',
    );

  const ruled = await byRules(record, transitions, io);
  const rules = ruled && reportOf('the world’s own rules', ruled);
  const judged = await byModel(values, transitions, io);
  const agreed = judged && ruled && agreement(judged.verdicts, ruled);
  if (rules) show(io, rules);
  if (judged) show(io, judged.report);
  if (agreed)
    io.print(
      `agreement with the rules: ${axes.map(({ key, title }) => `${title} ${percent(agreed[key])}`).join(', ')}`,
    );
  if (values.out !== undefined) {
    const lines = transitions.map((transition, i) =>
      JSON.stringify({ ...transition, verdict: judged?.verdicts[i] ?? null, rules: ruled?.[i] ?? null }),
    );
    await writeFile(io.resolve(values.out), `${lines.join('\n')}\n`);
  }
  io.result({
    run: values.run,
    transitions: transitions.length,
    judge: judged?.report ?? null,
    rules: rules ?? null,
    agreement: agreed ?? null,
  });
}

type Values = ReturnType<typeof parseOptions<typeof options>>;

function checkJudge({ 'judge-endpoint': endpoint, 'judge-model': name, model }: Values): void {
  if ((endpoint === undefined) !== (name === undefined))
    throw new UsageError('bad-option', '--judge-endpoint and --judge-model belong together.', 'Give both, or neither.');
  if (endpoint !== undefined && model !== undefined)
    throw new UsageError('bad-option', 'There can be one judge.', 'Give --judge-endpoint or --model, not both.');
}

/** null where the run's world is none whose truth is known here. */
async function byRules(
  { rollouts }: RunRecord,
  transitions: readonly JudgedTransition[],
  io: CommandIo,
): Promise<(Scores | null)[] | null> {
  try {
    const verdicts = await judgeByRules(householdDomain(householdTokenizer('small')), rollouts, transitions);
    return verdicts.some((verdict) => verdict !== null) ? verdicts : null;
  } catch (error) {
    if (asDreamError(error).code !== 'task-unreadable') throw error;
    io.note('The truth of this run’s world is not known here: no judgement by rules.');
    return null;
  }
}

async function byModel(
  values: Values,
  transitions: readonly JudgedTransition[],
  io: CommandIo,
): Promise<Awaited<ReturnType<typeof judgeWith>> | null> {
  const opened = await openJudge(values, transitions, io);
  if (!opened) return null;
  const bar = io.progress('judging');
  try {
    return await judgeWith(opened.model, transitions, {
      temperature: values.temperature,
      seed: values.seed,
      maxTokens: values['max-tokens'],
      signal: io.signal,
      onProgress: (done, total) => bar.update(done / total, `${done} of ${total}`),
    });
  } finally {
    bar.clear();
    await opened.close();
  }
}

async function openJudge(
  { model: path, 'judge-endpoint': baseUrl, 'judge-model': name, ...values }: Values,
  transitions: readonly JudgedTransition[],
  io: CommandIo,
): Promise<{ model: TextModel; close(): Promise<void> | void } | null> {
  if (baseUrl !== undefined && name !== undefined) {
    const model = endpointTextModel({ baseUrl, model: name, key: process.env.DREAM_ENDPOINT_KEY });
    return { model, close: () => model.dispose() };
  }
  if (path === undefined) return null;
  // Only this judge needs a GPU and everything behind it.
  const { loadFromDisk, openSource, openTokenizer } = await import('../open-model');
  const { nodeGpu } = await import('../node-gpu');
  const { openGpu } = await import('../../gpu/device');
  const source = await openSource(io, path);
  const tokenizer = await openTokenizer(source);
  if (!tokenizer.hasChatTemplate)
    throw new DreamError(
      'no-chat-template',
      `${source.label} brings no chat template, and a judge is asked in a chat.`,
      'Name the instruction-tuned version of a model.',
    );
  const codec: ChatCodec = {
    encode: (messages) => tokenizer.chatTokens(messages, { addGenerationPrompt: true }),
    decode: (tokens) => tokenizer.decode(tokens, { skipSpecial: true }),
    stopTokens: tokenizer.stopIds.slice(0, 4),
  };
  const longest = Math.max(...transitions.map((transition) => codec.encode(judgeMessages(transition)).length));
  const loaded = await loadFromDisk(io, await openGpu(await nodeGpu()), source, {
    contextLength: longest + values['max-tokens'],
  });
  return {
    model: engineTextModel(loaded, codec, { label: source.label, concurrency: 4 }),
    close: () => loaded.dispose(),
  };
}

const percent = (share: number | null) => (share === null ? '–' : `${Math.round(100 * share)} %`);

function show(io: CommandIo, { judge, judged, malformed, scores }: JudgeReport): void {
  io.print(`${judge}: ${judged} judged, ${malformed} without a verdict`);
  for (const { key, title } of axes) {
    const { mean, low, high } = scores[key];
    const value = mean === null ? '–' : `${mean.toFixed(2)} [${low!.toFixed(2)}, ${high!.toFixed(2)}]`;
    io.print(`  ${title.padEnd(16)}${value}`);
  }
}
