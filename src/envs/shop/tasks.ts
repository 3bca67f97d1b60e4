/**
 * @file Tasks of a shop: a goal in a task's clothes, and the fixed division of the built-in goals.
 *
 * Every fifth product (by hash) is only ever asked for in evaluation: no training task wants it. Both lists are shuffled
 * once, so that their beginnings already mix departments and styles.
 */
import { DreamError } from '../../data/errors';
import type { Task } from '../environment';
import { hashKey, Random } from '../household/random';
import { FIRST_PAGE } from './abstract';
import { BUILT_IN, builtInCatalogue } from './built-in/generate';
import { WISH_STYLES, type WishStyle, wishFor } from './built-in/wishes';
import type { ShopGoal } from './goals';
import type { Product } from './product';

/** `Task.data` of a shop task. */
export interface ShopData {
  world: 'shop';
  /** Name of the catalogue. */
  catalogue: string;
  goal: ShopGoal;
}

/** `key` tells goals of one product apart. The family says how many options must be chosen. */
export function taskOf(goal: ShopGoal, catalogue: string, key: string): Task {
  const data: ShopData = { world: 'shop', catalogue, goal };
  return {
    id: `shop/${catalogue}/${goal.asin}/${key}`,
    instruction: goal.instruction,
    room: goal.category,
    family: ['buy_item', 'buy_item_with_option', 'buy_item_with_options'][Math.min(2, goal.options.length)],
    firstObservation: FIRST_PAGE,
    data,
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

function isGoal(value: unknown): value is ShopGoal {
  if (typeof value !== 'object' || value === null) return false;
  const goal = value as Partial<Record<keyof ShopGoal, unknown>>;
  return (
    [goal.asin, goal.category, goal.query, goal.name, goal.productCategory, goal.instruction].every(isText) &&
    isTexts(goal.attributes) &&
    isTexts(goal.options) &&
    typeof goal.priceUpper === 'number' &&
    Number.isFinite(goal.priceUpper)
  );
}

/** @throws DreamError `task-unreadable` when the task is not a shop's. */
export function shopData(task: Task): ShopData {
  const data = task.data as Partial<ShopData> | null;
  if (
    typeof data !== 'object' ||
    data === null ||
    data.world !== 'shop' ||
    !isText(data.catalogue) ||
    !isGoal(data.goal)
  ) {
    throw new DreamError(
      'task-unreadable',
      `The task "${task.id}" is not a task of the shop.`,
      'Take tasks from the shop itself, or check the file they came from.',
    );
  }
  return data as ShopData;
}

/** One product in this many is kept for evaluation. */
const HELD_OUT_SHARE = 5;

export const isHeldOut = (product: Pick<Product, 'asin'>): boolean =>
  hashKey('held out', product.asin) % HELD_OUT_SHARE === 0;

export const builtInTask = (product: Product, style: WishStyle): Task =>
  taskOf(wishFor(product, style), BUILT_IN, style);

const lists = new Map<boolean, readonly Task[]>();

function builtInTasks(heldOut: boolean): readonly Task[] {
  let tasks = lists.get(heldOut);
  if (tasks === undefined) {
    const products = builtInCatalogue().products.filter((product) => isHeldOut(product) === heldOut);
    tasks = new Random('tasks').shuffle(
      products.flatMap((product) => WISH_STYLES.map((style) => builtInTask(product, style))),
    );
    lists.set(heldOut, tasks);
  }
  return tasks;
}

export const trainingTasks = (count: number): readonly Task[] => builtInTasks(false).slice(0, count);
export const heldOutTasks = (count: number): readonly Task[] => builtInTasks(true).slice(0, count);
