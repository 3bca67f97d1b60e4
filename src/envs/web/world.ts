/**
 * @file The web world: a task on the built-in sites, played through WebArena's observations and actions.
 *
 * Reward comes only at the end, from the task's evaluators (evaluate/). All of an episode is one immutable value, so a
 * snapshot is a reference and costs nothing.
 */
import { DreamError } from '../../data/errors';
import type { StepResult, Task } from '../environment';
import type { PlayableEnvironment, Snapshot } from '../world';
import { abstractObservation } from './abstract';
import { formatNode, formatTree } from './accessibility';
import { actionText, badFormatText, noElementText, type Parsed, START_ACTION_TEXT } from './actions';
import { admissibleActions } from './admissible';
import { Browser, type View } from './browser';
import { readWebArenaTask, type WebArenaTask } from './configs';
import { type ActionDialect, parseAction } from './dialects';
import { earlyStop, MAX_STEPS } from './early-stop';
import { type Evaluation, evaluate, evaluateNow, type Judge, type Outcome, type Profile } from './evaluate';
import { runHelper } from './evaluate/helpers';
import { fetchPage } from './load';
import { parseAddress } from './site';
import { fillPlaceholders, initialSites, SITES } from './sites';
import { type BrowserState, freshTab } from './tabs';

/** What an invalid action is answered with, in the abstract text. */
export const NOTHING_HAPPENS = 'nothing happens';
export const EPISODE_ENDED = 'episode ended';
/** A model that rambles must not make the evaluators read a book. */
const MAX_ACTION_LENGTH = 10_000;

export interface WebOptions {
  /** How actions are written; `auto` (default) accepts all three dialects. */
  dialect?: ActionDialect;
  /** Which rules score an answer. Default `webarena`. */
  profile?: Profile;
  maxSteps?: number;
}

/** `Task.data` of this world. */
export interface WebTaskData {
  readonly config: WebArenaTask;
}

export interface WebSnapshot extends Snapshot {
  readonly browser: BrowserState;
  readonly actions: readonly Parsed[];
  /** The PREVIOUS ACTION text. */
  readonly previous: string;
  /** What the agent said when it stopped; null while it plays. */
  readonly answer: string | null;
  readonly evaluation: Evaluation | null;
  readonly done: boolean;
}

/** The task's configuration with this world's addresses. @throws DreamError `task-unreadable`. */
export function configOf(task: Task): WebArenaTask {
  const data = task.data as Partial<WebTaskData> | null;
  const config = readWebArenaTask(data?.config);
  if (typeof config === 'string') {
    throw new DreamError(
      'task-unreadable',
      `The task is not a web task: ${config}.`,
      'Choose a task of the web world.',
    );
  }
  return config;
}

/** Addresses a task starts at, one tab each. @throws DreamError `task-needs-live-site` when one is not built in. */
function startTabs(config: WebArenaTask): string[] {
  return config.start_url.split(' |AND| ').map((start) => {
    const url = fillPlaceholders(start.trim());
    const address = parseAddress(url);
    if (address === null || !SITES.has(address.host)) {
      throw new DreamError(
        'task-needs-live-site',
        `The task starts at ${url}, which is not one of the built-in sites.`,
        'Play it in a dream, or against a real WebArena server through a remote environment.',
      );
    }
    return address.path === '/' && !url.endsWith('/') && !url.includes('?') ? `${url}/` : url;
  });
}

export class WebWorld implements PlayableEnvironment<WebSnapshot> {
  readonly dialect: ActionDialect;
  readonly profile: Profile;
  readonly maxSteps: number;
  private held: WebSnapshot | null = null;
  private config!: WebArenaTask;
  private readonly browser = new Browser(SITES, {
    sites: initialSites(true),
    tabs: [freshTab('about:blank')],
    current: 0,
  });

  constructor(options: WebOptions = {}) {
    this.dialect = options.dialect ?? 'auto';
    this.profile = options.profile ?? 'webarena';
    this.maxSteps = options.maxSteps ?? MAX_STEPS;
  }

  private get now(): WebSnapshot {
    if (this.held === null)
      throw new DreamError('world-not-reset', 'The world was used before it was given a task.', 'Call reset first.');
    return this.held;
  }

  get task(): Task {
    return this.now.task;
  }

  /** @throws DreamError `task-unreadable` or `task-needs-live-site`. */
  reset(task: Task): string {
    const config = configOf(task);
    const tabs = startTabs(config).map(freshTab);
    this.config = config;
    const browser = { sites: initialSites(config.require_login), tabs, current: 0 };
    this.held = {
      task,
      browser,
      actions: [],
      previous: START_ACTION_TEXT,
      answer: null,
      evaluation: null,
      done: false,
    };
    this.browser.state = browser;
    return this.observation();
  }

  /** The page in view: for people, experts and the page's frame. */
  view(): View {
    return this.now && this.browser.view();
  }

  get state(): BrowserState {
    return this.now.browser;
  }

  /** What the agent last did, in WebArena's words. */
  get previousAction(): string {
    return this.now.previous;
  }

  /** How the episode was scored, condition by condition; null while it runs. */
  get evaluation(): Evaluation | null {
    return this.now.evaluation;
  }

  /** The abstract page. */
  observation(): string {
    return abstractObservation(this.view(), this.browser.titles(), this.state.current);
  }

  /** The accessibility tree as WebArena prints it, with the line of tabs above. */
  rawObservation(): string {
    const { current } = this.state;
    const tabs = this.browser
      .titles()
      .map((title, index) => `Tab ${index}${index === current ? ' (current)' : ''}: ${title}`);
    return `${tabs.join(' | ')}\n\n${formatTree(this.view().accessibility)}`;
  }

  /** WebArena's prompt block. */
  rawFirstObservation(): string {
    return this.promptBlock();
  }

  promptBlock(): string {
    const { task, previous } = this.now;
    return `OBSERVATION:\n${this.rawObservation()}\nURL: ${this.view().url}\nOBJECTIVE: ${task.instruction}\nPREVIOUS ACTION: ${previous}`;
  }

  step(action: string): StepResult {
    const now = this.now;
    if (now.done) return this.result(NOTHING_HAPPENS, false, 'The episode is over.');
    const parsed = parseAction(action.slice(0, MAX_ACTION_LENGTH), this.dialect);
    const actions = [...now.actions, parsed];
    if (parsed.kind === 'stop') {
      this.held = { ...now, actions, previous: actionText(parsed), answer: parsed.answer };
      return this.finish(true, '');
    }
    const previous = this.describe(parsed, action);
    const done =
      parsed.kind === 'none' ? ({ ok: false, reason: parsed.reason } as const) : this.browser.perform(parsed);
    this.held = { ...now, actions, previous, browser: this.browser.state };
    const stop = earlyStop(actions, this.maxSteps);
    if (stop !== null) return this.finish(done.ok, `Early stop: ${stop}`);
    if (done.ok) return this.result(this.observation(), true, this.rawObservation());
    const why =
      parsed.kind === 'none' || previous.startsWith('Attempt') ? previous : `Nothing happens: ${done.reason}.`;
    return this.result(NOTHING_HAPPENS, false, `${why}\n\n${this.rawObservation()}`);
  }

  /** The PREVIOUS ACTION text, which names the element as it was before the action. */
  private describe(parsed: Exclude<Parsed, { kind: 'stop' }>, prediction: string): string {
    if (parsed.kind === 'none') return badFormatText(prediction.slice(0, 500));
    if (!('id' in parsed)) return actionText(parsed, '');
    const node = this.browser.view().accessibility.find((each) => each.id === parsed.id);
    if (node === undefined) return noElementText(parsed.kind === 'select' ? 'type' : parsed.kind, parsed.id);
    return actionText(parsed, formatNode(node).split(/\s+/).slice(1).join(' '));
  }

  private result(observation: string, valid: boolean, raw: string): StepResult {
    return { observation, reward: 0, done: this.now.done, valid, raw, imagined: false };
  }

  /** Scores the episode. What only a judge or a live site can tell makes the episode lost, never rewarded. */
  private finish(valid: boolean, note: string): StepResult {
    const evaluation = evaluateNow(this.filledConfig(), this.outcome(), this.profile);
    this.held = { ...this.now, evaluation, done: true };
    const verdict =
      evaluation.score === null
        ? `This task ${evaluation.verdict.replaceAll('-', ' ')}.`
        : `Score ${evaluation.score}.`;
    return {
      observation: EPISODE_ENDED,
      reward: evaluation.score ?? 0,
      done: true,
      valid,
      raw: note === '' ? verdict : `${note}. ${verdict}`,
      imagined: false,
      ...(evaluation.score === null ? { lost: true } : {}),
    };
  }

  /** What the evaluators look at. An agent that was stopped gave no answer. */
  outcome(): Outcome {
    const { answer, browser } = this.now;
    return {
      answer: answer ?? '',
      url: this.browser.url,
      page: (url) => {
        const filled = fillPlaceholders(url);
        const address = parseAddress(filled);
        return address !== null && SITES.has(address.host) ? fetchPage(SITES, browser.sites, filled).body : null;
      },
      helper: (call, url) => runHelper(call, fillPlaceholders(url), browser.sites),
    };
  }

  private filledConfig(): WebArenaTask {
    const { config } = this;
    return { ...config, eval: { ...config.eval, reference_url: fillPlaceholders(config.eval.reference_url) } };
  }

  /** The score with a judge for what rules cannot decide. @throws DreamError `episode-not-over`. */
  async judged(judge: Judge): Promise<Evaluation> {
    if (!this.now.done)
      throw new DreamError(
        'episode-not-over',
        'The episode is still running.',
        'Let the agent stop before it is judged.',
      );
    return evaluate(this.filledConfig(), this.outcome(), this.profile, judge);
  }

  admissible(): string[] {
    return this.now.done ? [] : admissibleActions(this.browser.view(), this.state);
  }

  snapshot(): WebSnapshot {
    return this.now;
  }

  restore(snapshot: WebSnapshot): void {
    if (this.held?.task !== snapshot.task) this.config = configOf(snapshot.task);
    this.held = snapshot;
    this.browser.state = snapshot.browser;
  }
}
