/**
 * @file The shop in words.
 *
 * A search finds the same products whoever asks, so all of the catalogue is one room: what was seen while buying shoes helps
 * a dream of buying lamps, and imported WebShop logs answer beside the shop's own.
 */
import type { Trajectory } from '../../data/trajectory';
import { batchOf, type Task } from '../../envs/environment';
import {
  DEMONSTRATIONS,
  heldOutTasks,
  offlineTrajectories,
  readPage,
  ShopWorld,
  shopWords,
  taskFromInstruction,
  trainingTasks,
} from '../../envs/shop';
import { memoriesUpTo } from './memories';
import { imaginedPage } from './shop-pages';
import type { SpokenWorld } from './world';

/** Tasks and memories are part of the world, not of a run. */
const worldSeed = 1;
const originalTasks = 480;
const catalogue = 'catalogue';

const inCatalogue = (task: Task): Task => ({ ...task, room: catalogue });

export const spokenShop: SpokenWorld = {
  name: 'shop',
  trainingTasks: () => trainingTasks(originalTasks).map(inCatalogue),
  heldOutTasks: (count) => heldOutTasks(count).map(inCatalogue),
  truth: () => batchOf(() => new ShopWorld()),
  memories: (limit) => memoriesUpTo(spokenShop, limit, (count) => offlineTrajectories(count, worldSeed)),
  *demonstrations(seed) {
    yield* successes((count, from) => offlineTrajectories(count, from, { mixture: DEMONSTRATIONS }), seed);
  },
  words: shopWords,
  rules:
    'You shop online to fulfil an instruction. search[keywords] finds products; click[name] presses what the page shows by that name: a product, an option, a button. Choose every wanted option, then click[buy now]. The kind of product, its qualities, the options and the highest price must all fit.',
  exampleAction: 'search[leak proof water bottle]',
  taskForm:
    "i'm looking for a leak proof water bottle with color: teal, and price lower than 30.00 dollars (a kind of product, one or more qualities, perhaps options, a highest price)",
  taskFrom(_, instruction) {
    const task = taskFromInstruction(instruction);
    return task && inCatalogue(task);
  },
  admissible(firstObservation, turns) {
    const page = shopWords.pageInView(firstObservation, turns);
    return page === null || page.page === 'done' ? [] : shopWords.offeredActions(page);
  },
  isOver: (observation) => readPage(observation)?.page === 'done',
  imagine: imaginedPage,
  roomOf: () => catalogue,
};

/** Successful episodes, without end, made some at a time. */
export function* successes(
  play: (count: number, seed: number) => readonly Trajectory[],
  seed: number,
): Generator<Trajectory, void> {
  const some = 24;
  for (let round = 0; ; round++)
    yield* play(some * (round + 1), seed)
      .slice(some * round)
      .filter(({ success }) => success);
}
