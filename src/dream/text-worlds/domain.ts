/**
 * @file Any world for a model that speaks: a `Domain` from a world's words, behind the model's own chat template.
 *
 * Observations are the world's abstract text on both sides; the models are shown it as it is, or shortened when the context
 * is short (brief.ts).
 */

import { DreamError } from '../../data/errors';
import type { EnvironmentBatch } from '../../envs/environment';
import type { TextTokenizer } from '../../models/text-tokenizer';
import type { Domain } from '../domain';
import { ChatTurns } from '../text-household/chat-turns';
import { defaultTextSettings, type TextSettings } from '../text-household/settings';
import { brief, briefLength } from './brief';
import { experienceRole, experienceSpoken } from './experience';
import { generatorRole } from './generator';
import { policyRole } from './policy';
import type { SpokenWorld } from './world';

/** Throws `no-chat-template`, `chat-template-unsplittable`, `world-setting` and `context-too-short`. */
export function worldTextDomain(
  tokenizer: TextTokenizer,
  contextLength: number,
  world: SpokenWorld,
  settings: TextSettings = defaultTextSettings,
): Domain {
  checkSettings(world, settings);
  const turns = new ChatTurns(tokenizer);
  const longest = briefLength(contextLength);
  const { words } = world;
  const led = settings.constrain === 'admissible';
  const domain: Domain = {
    trainingTasks: () => world.trainingTasks(),
    heldOutTasks: (count) => world.heldOutTasks(count),
    realWorld: () => realWorldOf(world),
    ...(world.truth === null ? { dreamedOnly: true as const } : {}),
    offlineTransitions: (limit) => world.memories(limit),
    taskFrom: (parent, instruction) => world.taskFrom(parent, instruction),
    isNovel: (task, others) => !others.some((other) => sameWish(other.instruction, task.instruction)),
    // What a world's room holds is for `taskFrom` to know; nothing else can be read from arbitrary text.
    feasible: () => true,
    supportsSuccess: (task, firstObservation, told) => words.supportsSuccess(task, firstObservation, told),
    contradicts: (firstObservation, told) => words.contradicts(firstObservation, told),
    refusal(task, firstObservation, told, action) {
      const seen = told.map((turn) => ({ ...turn, valid: true }));
      const answer = words.refusal(task, firstObservation, seen, action);
      return answer && experienceSpoken(turns, { ...answer, valid: false, reward: 0 });
    },
    ...(world.isOver ? { isOver: (observation: string) => world.isOver?.(observation) ?? false } : {}),
    ...((led || settings.listActions) && world.admissible ? { admissible: world.admissible } : {}),
    failureObservation: words.failureObservation,
    dialect: {
      policy: policyRole(turns, world, settings, longest),
      experience: experienceRole(turns, world, settings.dreamForm === 'guided', longest),
      generator: generatorRole(turns, world),
    },
  };
  checkContext(domain, contextLength, (text) => brief(text, longest));
  return domain;
}

/** Letters and digits decide whether two sentences ask for the same thing. */
const sameWish = (a: string, b: string): boolean => bare(a) === bare(b);
const bare = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

function realWorldOf({ name, truth }: SpokenWorld): EnvironmentBatch {
  if (truth !== null) return truth();
  const nowhere = async (): Promise<never> => {
    throw new DreamError(
      'no-real-world',
      `The world ${name} exists in dreams alone.`,
      'Leave the rollouts in the dream; give the world a program (examples/own-world) to check it against a truth.',
    );
  };
  return { imagined: false, reset: nowhere, step: nowhere };
}

/** Settings that only the household's rules can give a meaning to. */
function checkSettings({ name }: SpokenWorld, { headStart, expertSteps }: TextSettings): void {
  if (headStart === 0 && expertSteps === 0) return;
  throw new DreamError(
    'world-setting',
    `The world ${name} has no tasks that begin before their goal or are chosen by the expert's length.`,
    'Leave --head-start and --expert-steps out; they belong to the household.',
  );
}

function checkContext({ dialect, ...domain }: Domain, contextLength: number, shown: (text: string) => string): void {
  const [task] = domain.trainingTasks();
  const { policy, experience } = dialect;
  const first = shown(task.firstObservation);
  const needed = Math.max(
    policy.opening(task, first, domain.admissible?.(first, [])).length + policy.maxNewTokens,
    experience.opening(task, first).length + experience.question(task, 'look', []).length + experience.maxNewTokens,
  );
  if (needed <= contextLength) return;
  throw new DreamError(
    'context-too-short',
    `The first turn alone needs ${needed} tokens; the context has ${contextLength}.`,
    `Open the model with a context of ${Math.ceil((needed * 2) / 512) * 512} tokens or more.`,
  );
}
