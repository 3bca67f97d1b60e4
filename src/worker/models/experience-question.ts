/**
 * @file One question to an experience model, asked exactly as the dream asks it (dream/text-models/experience.ts), with
 * what it wrote kept for the reader.
 */
import { DreamError } from '../../data/errors';
import { householdDomain } from '../../dream/household';
import { householdTextWorld, TextExperienceModel, type TextModel } from '../../dream/text-models';
import type { Task } from '../../envs/environment';
import { householdTokenizer } from '../../models/household-vocabulary';
import type { ExperienceReply, ExperienceRequest, ExperienceTask } from './protocol';

const TASKS = 5;

let domain: ReturnType<typeof householdDomain> | undefined;

function world(): NonNullable<typeof domain> {
  domain ??= householdDomain(householdTokenizer('small'));
  return domain;
}

const tasks = (): readonly Task[] => world().heldOutTasks(TASKS);

export function experienceTasks(): ExperienceTask[] {
  return tasks().map(({ id, instruction, firstObservation }) => ({
    id,
    instruction,
    firstObservation,
    suggestion: `go to ${/[a-z]+ \d+/.exec(firstObservation)?.[0] ?? 'shelf 1'}`,
  }));
}

/** Throws `no-task`, what the model throws, or the signal's reason. */
export async function askExperience(
  model: TextModel,
  request: ExperienceRequest,
  signal: AbortSignal,
): Promise<ExperienceReply> {
  const task = tasks().find(({ id }) => id === request.taskId);
  if (!task) throw new DreamError('no-task', 'There is no such task.', 'Choose one of the tasks in the list.');
  const raw: string[] = [];
  let tooLong = false;
  // Limits may change once the model has answered, so they are read through.
  const overheard: TextModel = {
    kind: model.kind,
    label: model.label,
    get limits() {
      return model.limits;
    },
    async complete(requests, stop) {
      const completions = await model.complete(requests, stop);
      for (const { text, finishReason } of completions) {
        raw.push(text);
        // How every kind of model says that the prompt did not fit (text-model.ts).
        tooLong ||= text === '' && finishReason === 'length';
      }
      return completions;
    },
    dispose: () => model.dispose(),
  };
  const dream = new TextExperienceModel({
    model: overheard,
    world: householdTextWorld(world()),
    recall: null,
    retrievalTopK: 0,
    temperature: request.temperature,
    goalCheck: true,
    stepCheck: true,
    maxTokens: request.maxTokens,
    signal,
  });
  const start = performance.now();
  try {
    await dream.reset([task], request.seed);
    const [step] = await dream.step([request.action]);
    if (!step) throw new DreamError('no-answer', 'The dream gave no answer.', 'Please report this defect.');
    return {
      label: model.label,
      limits: { ...model.limits },
      raw,
      tooLong,
      observation: step.observation,
      reasoning: step.reasoning ?? '',
      reward: step.reward,
      done: step.done,
      valid: step.valid,
      lost: step.lost ?? false,
      refused: dream.counts.refusals > 0,
      seconds: (performance.now() - start) / 1000,
    };
  } finally {
    dream.dispose();
  }
}
