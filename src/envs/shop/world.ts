/**
 * @file The shop: WebShop's pages and actions over any catalogue.
 *
 * An action that the page does not offer changes nothing. `observation` is the abstract page; `raw` is the page in the
 * chosen observation mode. The reward comes with the purchase: 1 for a score of exactly 1 (`success`, as DreamGym trains)
 * or the score itself (`score`, as WebShop reports); `lastScore` always has every component.
 */
import { DreamError } from '../../data/errors';
import type { StepResult, Task } from '../environment';
import type { PlayableEnvironment, Snapshot } from '../world';
import { abstractPage, THOUGHT, UNCHANGED } from './abstract';
import { builtInCatalogue } from './built-in/generate';
import type { Catalogue } from './catalogue';
import type { ShopGoal } from './goals';
import { type ObservationMode, renderPage } from './pages';
import { type Product, priceOf } from './product';
import { type ShopScore, scorePurchase } from './reward';
import { clickables, parseAction, type Scene, type ShopState, START, sceneOf, transition } from './session';
import { shopData } from './tasks';

export interface ShopOptions {
  /** Default: the built-in one. Tasks of another catalogue need theirs. */
  catalogue?: Catalogue;
  /** How `raw` is written. Default `text`. */
  mode?: ObservationMode;
  /** What a purchase pays. Default `success`: 1 for a score of 1, else 0. */
  rewardMode?: 'success' | 'score';
  /** Show the Attributes tab, as WebShop's `show_attrs`. Default false. */
  showAttributes?: boolean;
}

export interface ShopSnapshot extends Snapshot {
  readonly state: ShopState;
}

/** ReAct's harness refuses it (the demonstrations never turn a page). */
const REACT_REFUSES = 'next >';

export class ShopWorld implements PlayableEnvironment<ShopSnapshot> {
  readonly catalogue: Catalogue;
  readonly mode: ObservationMode;
  readonly rewardMode: 'success' | 'score';
  readonly showAttributes: boolean;
  private currentTask: Task | null = null;
  private currentGoal!: ShopGoal;
  private currentScene!: Scene;
  private purchase: ShopScore | null = null;

  constructor(options: ShopOptions = {}) {
    this.catalogue = options.catalogue ?? builtInCatalogue();
    this.mode = options.mode ?? 'text';
    this.rewardMode = options.rewardMode ?? 'success';
    this.showAttributes = options.showAttributes ?? false;
  }

  /** @throws DreamError `task-unreadable` when the task is not a shop's, `task-elsewhere` when it is another catalogue's. */
  reset(task: Task): string {
    const { goal, catalogue } = shopData(task);
    if (catalogue !== this.catalogue.name) {
      throw new DreamError(
        'task-elsewhere',
        `The task is of the catalogue "${catalogue}", but this shop sells "${this.catalogue.name}".`,
        'Load the catalogue that the task came from.',
      );
    }
    this.currentTask = task;
    this.currentGoal = goal;
    this.moveTo(START);
    return this.observation();
  }

  get task(): Task {
    if (this.currentTask === null) {
      throw new DreamError('world-not-reset', 'The world was used before it was given a task.', 'Call reset first.');
    }
    return this.currentTask;
  }

  get goal(): ShopGoal {
    return this.task && this.currentGoal;
  }

  get state(): ShopState {
    return this.task && this.currentScene.state;
  }

  /** All hits of the query, on a results page. */
  get hits(): readonly Product[] {
    return this.task && this.currentScene.hits;
  }

  /** The products on this results page. */
  get shown(): readonly Product[] {
    return this.task && this.currentScene.shown;
  }

  /** The product of this item page or sub page. */
  get product(): Product | null {
    return this.task && this.currentScene.product;
  }

  /** WebShop's score of the purchase with its components; null before one. */
  get lastScore(): ShopScore | null {
    if (this.state.page === 'done') this.purchase ??= this.scoreNow();
    return this.purchase;
  }

  /** What buying now would score; null where nothing can be bought. For graders and demonstrators, not for agents. */
  scoreNow(): ShopScore | null {
    const { product, state } = this.currentScene;
    if (product === null) return null;
    const chosen = state.options.map(([, value]) => value);
    return scorePurchase(product, this.goal, priceOf(product), chosen);
  }

  rawFirstObservation(): string {
    return renderPage(this.mode, sceneOf(this.catalogue, START, this.task.id), this.context());
  }

  step(action: string): StepResult {
    const before = this.state;
    if (this.mode === 'react' && before.page !== 'done' && /^think\[/.test(action)) {
      return { observation: THOUGHT, raw: 'OK.', reward: 0, done: false, valid: true, imagined: false };
    }
    const parsed = parseAction(action);
    const allowed = parsed !== null && !(this.mode === 'react' && parsed.argument === REACT_REFUSES);
    const after = allowed ? transition(this.currentScene, parsed, this.showAttributes) : null;
    if (after === null) {
      const raw = this.mode === 'react' ? 'Invalid action!' : this.rawObservation();
      return { observation: UNCHANGED, raw, reward: 0, done: before.page === 'done', valid: false, imagined: false };
    }
    this.moveTo(after);
    const done = after.page === 'done';
    const score = this.lastScore?.total ?? 0;
    return {
      observation: this.observation(),
      raw:
        this.mode === 'react' && before.page === 'item' && after.page === 'item'
          ? `You have clicked ${parsed?.argument}. `
          : this.rawObservation(),
      reward: !done ? 0 : this.rewardMode === 'score' ? score : score === 1 ? 1 : 0,
      done,
      valid: true,
      imagined: false,
    };
  }

  /** What the agent sees now. */
  observation(): string {
    return abstractPage(this.currentScene, this.showAttributes);
  }

  rawObservation(): string {
    return renderPage(this.mode, this.currentScene, this.context());
  }

  /** WebShop's `get_available_actions`: `clickables` in lower case, as `click[...]` takes them. */
  availableActions(): { hasSearchBar: boolean; clickables: string[] } {
    const offered = clickables(this.currentScene, this.showAttributes).map((label) => label.toLowerCase());
    return { hasSearchBar: this.state.page === 'index', clickables: [...new Set(offered)] };
  }

  admissible(): string[] {
    if (this.state.page === 'done') return [];
    const clicks = this.availableActions().clickables.filter(
      (label) => this.mode !== 'react' || label !== REACT_REFUSES,
    );
    return [...clicks.map((label) => `click[${label}]`), 'search[<query>]'].sort();
  }

  /** A reference: states are immutable. */
  snapshot(): ShopSnapshot {
    return { task: this.task, state: this.state };
  }

  restore(snapshot: ShopSnapshot): void {
    if (this.currentTask !== snapshot.task) this.reset(snapshot.task);
    this.moveTo(snapshot.state);
  }

  private moveTo(state: ShopState): void {
    this.currentScene = sceneOf(this.catalogue, state, this.task.id);
    this.purchase = null;
  }

  private context() {
    return {
      instruction: this.currentGoal.instruction,
      showAttributes: this.showAttributes,
      score: this.lastScore?.total ?? null,
    };
  }
}
