/**
 * @file Offline episodes of the shop: scripted shoppers on training tasks, the same for the same seed.
 *
 * They fill the replay buffer and train the experience model. Failed purchases and refused actions are in the mixture on
 * purpose: a model that has only seen experts imagines that everything succeeds.
 */
import type { Trajectory, Turn } from '../../data/trajectory';
import { Random } from '../household/random';
import { SHOPPER_KINDS, Shopper, type ShopperKind } from './shoppers';
import { trainingTasks } from './tasks';
import { explain } from './words';
import { ShopWorld } from './world';

/** Shares of the shoppers; they need not sum to one. */
export type ShopMixture = Readonly<Partial<Record<ShopperKind, number>>>;

export const EXPERIENCE_MIXTURE: ShopMixture = { expert: 0.25, clumsy: 0.25, noisy: 0.2, hasty: 0.2, random: 0.1 };
/** For a policy's warm start. */
export const DEMONSTRATIONS: ShopMixture = { expert: 1 };

/** As the published harnesses count. */
export const MAX_STEPS = 15;

export interface OfflineOptions {
  mixture?: ShopMixture;
  maxSteps?: number;
}

/** `limit` episodes of the built-in shop, on tasks of the training list, in the list's order. */
export function offlineTrajectories(limit: number, seed: number, options: OfflineOptions = {}): Trajectory[] {
  const { mixture = EXPERIENCE_MIXTURE, maxSteps = MAX_STEPS } = options;
  const world = new ShopWorld();
  const tasks = trainingTasks(Number.POSITIVE_INFINITY);
  return Array.from({ length: limit }, (_, i) => {
    const random = new Random('offline shop').split(seed, i);
    world.reset(tasks[i % tasks.length]);
    return playEpisode(world, new Shopper(drawKind(mixture, random), world, random), maxSteps);
  });
}

function drawKind(mixture: ShopMixture, random: Random): ShopperKind {
  const total = SHOPPER_KINDS.reduce((sum, kind) => sum + (mixture[kind] ?? 0), 0);
  let draw = random.float() * total;
  for (const kind of SHOPPER_KINDS) {
    draw -= mixture[kind] ?? 0;
    if (draw < 0) return kind;
  }
  return 'expert';
}

/** The world must have been reset; the shopper plays until it ends or the steps are used up. */
export function playEpisode(world: ShopWorld, shopper: Shopper, maxSteps = MAX_STEPS): Trajectory {
  const firstObservation = world.observation();
  const turns: Turn[] = [];
  let view = firstObservation;
  while (turns.length < maxSteps) {
    const action = shopper.next();
    if (action === null) break;
    const { observation, reward, done, valid } = world.step(action);
    const reasoning = explain(view, action, observation, done ? missed(world) : null);
    const thought = thoughtFor(action);
    turns.push({ thought, action, actionTokens: [], actionLogProbs: [], observation, reasoning, reward, done, valid });
    if (valid) view = observation;
  }
  const done = turns.at(-1)?.done ?? false;
  const reward = turns.reduce((sum, turn) => sum + turn.reward, 0);
  return {
    task: world.task,
    source: 'offline',
    firstObservation,
    turns,
    return: reward,
    success: world.lastScore?.total === 1,
    truncated: !done,
    lost: false,
    group: 0,
  };
}

/** What the last purchase missed, in words. */
export function missed(world: ShopWorld): string[] {
  const score = world.lastScore;
  if (score === null) return [];
  const { goal } = world;
  return [
    ...(score.rType < 1 ? ['the kind of product'] : []),
    ...(score.attributeMatches < goal.attributes.length ? ['a wanted quality'] : []),
    ...(score.optionMatches < goal.options.length ? ['a wanted option'] : []),
    ...(score.rPrice ? [] : ['the price limit']),
  ];
}

function thoughtFor(action: string): string {
  if (action.startsWith('search[')) return 'I look for products that fit the instruction.';
  switch (action) {
    case 'click[buy now]':
      return 'This item fits, so I buy it.';
    case 'click[features]':
    case 'click[description]':
    case 'click[reviews]':
      return 'I read on to see whether the item has what is wanted.';
    case 'click[< prev]':
    case 'click[back to search]':
      return 'I go back.';
    case 'click[next >]':
      return 'Nothing here fits, so I look at more results.';
    default:
      return /^click\[b0/i.test(action) ? 'I open this item.' : 'I choose what is wanted.';
  }
}
