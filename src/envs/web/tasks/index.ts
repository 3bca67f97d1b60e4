/** @file All tasks of the web world, in a fixed order, split once and for all into training and evaluation. */

import type { Task } from '../../environment';
import { Random } from '../../household/random';
import type { WebArenaTask } from '../configs';
import { type WebTaskData, WebWorld } from '../world';
import { ADMIN_TEMPLATES } from './admin';
import { CODE_TEMPLATES } from './code';
import { FORUM_TEMPLATES } from './forum';
import { MAP_TEMPLATES, WIKI_TEMPLATES } from './map-wiki';
import { SHOP_TEMPLATES } from './shop';
import type { Instance, SiteName, Template, Waypoint } from './template';

export const TEMPLATES: readonly Template[] = [
  ...SHOP_TEMPLATES,
  ...ADMIN_TEMPLATES,
  ...FORUM_TEMPLATES,
  ...CODE_TEMPLATES,
  ...MAP_TEMPLATES,
  ...WIKI_TEMPLATES,
];

const START: Record<SiteName, string> = {
  shopping: '__SHOPPING__',
  shopping_admin: '__SHOPPING_ADMIN__',
  reddit: '__REDDIT__',
  gitlab: '__GITLAB__',
  map: '__MAP__',
  wikipedia: '__WIKIPEDIA__',
};

const fill = (intent: string, values: Readonly<Record<string, string>>): string =>
  intent.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name]);

export interface KnownTask {
  readonly task: Task;
  readonly template: Template;
  readonly instance: Instance;
}

function configFor(template: Template, instance: Instance, number: number, templateNumber: number): WebArenaTask {
  const { answers, url, pages, note } = instance.success;
  const kinds: string[] = [];
  if (answers !== undefined) kinds.push('string_match');
  if (url !== undefined) kinds.push('url_match');
  if (pages !== undefined) kinds.push('program_html');
  return {
    task_id: number,
    sites: [template.site],
    require_login: template.signedIn !== false,
    start_url: START[template.site],
    intent: fill(template.intent, instance.values),
    intent_template: template.intent,
    instantiation_dict: instance.values,
    intent_template_id: templateNumber,
    eval: {
      eval_types: kinds,
      reference_answers: answers ?? {},
      reference_url: url ?? '',
      program_html: pages ?? [],
      string_note: note ?? '',
      url_note: url === undefined ? '' : 'GOLD in PRED',
    },
  };
}

/** A task from a configuration whose addresses are on the built-in sites. @throws DreamError as WebWorld.reset. */
export function webTask(config: WebArenaTask, id: string, family: string): Task {
  const data: WebTaskData = { config };
  const task = {
    id,
    instruction: config.intent.replace(/\.$/, ''),
    room: `web/${config.sites[0] ?? 'home'}`,
    family,
    firstObservation: '',
    data,
  };
  return { ...task, firstObservation: new WebWorld().reset(task) };
}

let known: readonly KnownTask[] | null = null;

/** Every task with its template. Built on first use: about 200 pages are rendered for the first observations. */
export function knownTasks(): readonly KnownTask[] {
  if (known !== null) return known;
  let number = 0;
  known = TEMPLATES.flatMap((template, templateNumber) =>
    template.instances.map((instance, index) => {
      const config = configFor(template, instance, number++, templateNumber);
      return { task: webTask(config, `web/${template.id}/${index}`, template.id), template, instance };
    }),
  );
  return known;
}

/** The first third of each template's tasks is never trained on, rounded up. */
const isHeldOut = ({ template, instance }: KnownTask): boolean =>
  template.instances.indexOf(instance) < Math.ceil(template.instances.length / 3);

/** The same order in every run; neighbours come from different templates. */
const spread = (tasks: readonly KnownTask[], seed: string): Task[] =>
  new Random(seed).shuffle([...tasks]).map(({ task }) => task);

let split: { training: readonly Task[]; heldOut: readonly Task[] } | null = null;

function splits(): { training: readonly Task[]; heldOut: readonly Task[] } {
  split ??= {
    training: spread(
      knownTasks().filter((each) => !isHeldOut(each)),
      'web/training',
    ),
    heldOut: spread(knownTasks().filter(isHeldOut), 'web/held-out'),
  };
  return split;
}

export const webTrainingTasks = (count: number): readonly Task[] => splits().training.slice(0, count);
export const webHeldOutTasks = (count: number): readonly Task[] => splits().heldOut.slice(0, count);

let byId: ReadonlyMap<string, KnownTask> | null = null;

/** Where a task of ours goes and what it answers; null for other people's tasks. */
export function wayOf(task: Task): { way: readonly Waypoint[]; answer: string } | null {
  byId ??= new Map(knownTasks().map((each) => [each.task.id, each]));
  const instance = byId.get(task.id)?.instance;
  return instance === undefined ? null : { way: instance.way, answer: instance.answer };
}
