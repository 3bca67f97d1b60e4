/**
 * @file The web sites in words. Memories are shared within a site, named by the address that its pages show, so that imported
 * logs of the same address answer beside the sites' own.
 */
import { abstractStates } from '../../data/abstract-states';
import { batchOf, type Task } from '../../envs/environment';
import {
  EPISODE_ENDED,
  offlineTrajectories,
  WebWorld,
  webHeldOutTasks,
  webTrainingTasks,
  webWords,
} from '../../envs/web';
import { memoriesUpTo } from './memories';
import { successes } from './shop';
import { imaginedWebPage, offeredOn, pageInView } from './web-pages';
import type { SpokenWorld } from './world';

const worldSeed = 1;

/** A site by the address of its first page. */
const siteOf = (firstObservation: string): string => abstractStates.web.room(firstObservation);
const onSite = (task: Task): Task => ({ ...task, room: siteOf(task.firstObservation) });

export const spokenWeb: SpokenWorld = {
  name: 'web',
  trainingTasks: () => webTrainingTasks(Number.POSITIVE_INFINITY).map(onSite),
  heldOutTasks: (count) => webHeldOutTasks(count).map(onSite),
  truth: () => batchOf(() => new WebWorld()),
  memories: (limit) => memoriesUpTo(spokenWeb, limit, (count) => offlineTrajectories(count, worldSeed)),
  *demonstrations(seed) {
    yield* successes(offlineTrajectories, seed);
  },
  words: webWords,
  rules:
    'You use web sites to fulfil a task. Pages are lists of numbered elements: click [id] follows a link or presses a button, type [id] [text] [1] fills a field and presses Enter (0: does not), scroll [down] shows more, goto [address] opens a page, go_back returns. stop [answer] ends the task: with the answer when something was asked, empty when something had to be changed.',
  exampleAction: 'click [12]',
  taskForm:
    'a question that the sites answer, or a change to make on them, in the words of a known task with other names',
  // Only what an evaluator can judge is a task: other instances of the known templates.
  taskFrom(_, instruction) {
    const wanted = folded(instruction);
    const known = webTrainingTasks(Number.POSITIVE_INFINITY).find((task) => folded(task.instruction) === wanted);
    return known ? onSite(known) : null;
  },
  admissible: (firstObservation, turns) => offeredOn(pageInView(firstObservation, turns)),
  optionalText: new Set(['answer']),
  isOver: (observation) => observation === EPISODE_ENDED,
  imagine: imaginedWebPage,
  roomOf: (room, firstObservation) => (firstObservation === '' ? room : siteOf(firstObservation)),
};

const folded = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
