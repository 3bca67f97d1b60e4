/** @file The shop as a world: rewards, snapshots, speed, and the players. */
import { describe, expect, it } from 'vitest';
import { Random } from '../../../src/envs/household/random';
import {
  builtInCatalogue,
  Catalogue,
  canFulfil,
  expertAction,
  heldOutTasks,
  SHOPPER_KINDS,
  Shopper,
  type ShopperKind,
  ShopWorld,
  shopData,
  shopWorld,
  trainingTasks,
} from '../../../src/envs/shop';

function play(kind: ShopperKind, tasks: number, maxSteps = 15) {
  const world = new ShopWorld();
  let won = 0;
  let score = 0;
  let steps = 0;
  for (const task of heldOutTasks(tasks)) {
    world.reset(task);
    const shopper = new Shopper(kind, world, new Random(task.id));
    for (let i = 0; i < maxSteps; i++) {
      const action = shopper.next();
      if (action === null) break;
      won += world.step(action).reward;
      steps++;
    }
    score += world.lastScore?.total ?? 0;
  }
  return { won: won / tasks, score: score / tasks, steps: steps / tasks };
}

/** Buys the task's own product, with `options` of the wanted ones left out. */
function buy(world: ShopWorld, leaveOut: number) {
  const { goal } = shopData(world.task);
  world.step(`search[${goal.name.toLowerCase()}]`);
  world.step(`click[${goal.asin}]`);
  for (const value of goal.options.slice(leaveOut)) expect(world.step(`click[${value}]`).valid).toBe(true);
  return world.step('click[Buy Now]');
}

describe('reward', () => {
  const task = trainingTasks(400).find(({ family }) => family === 'buy_item_with_options')!;

  it('is 1 for the whole wish only; the score is always there', () => {
    const world = new ShopWorld();
    world.reset(task);
    expect(world.lastScore).toBeNull();
    expect(buy(world, 0)).toMatchObject({ reward: 1, done: true });
    expect(world.lastScore).toMatchObject({ total: 1, rType: 1, rAtt: 1, rOption: 1, rPrice: true });
    world.reset(task);
    expect(world.lastScore).toBeNull();
    expect(buy(world, 1)).toMatchObject({ reward: 0, done: true });
    expect(world.lastScore?.total).toBeGreaterThan(0);
  });

  it('can be the score itself', () => {
    const world = new ShopWorld({ rewardMode: 'score' });
    world.reset(task);
    const { reward } = buy(world, 1);
    expect(reward).toBe(world.lastScore?.total);
    expect(reward).toBeGreaterThan(0);
    expect(reward).toBeLessThan(1);
  });
});

describe('world', () => {
  it('must be given a task of its own catalogue', () => {
    const world = new ShopWorld();
    expect(() => world.step('search[x]')).toThrow(expect.objectContaining({ code: 'world-not-reset' }));
    const elsewhere = new ShopWorld({ catalogue: new Catalogue('other', builtInCatalogue().products.slice(0, 3)) });
    expect(() => elsewhere.reset(trainingTasks(1)[0])).toThrow(expect.objectContaining({ code: 'task-elsewhere' }));
    expect(() => world.reset({ ...trainingTasks(1)[0], data: 7 })).toThrow(
      expect.objectContaining({ code: 'task-unreadable' }),
    );
  });

  it('begins as its tasks say', () => {
    const [task] = shopWorld.trainingTasks(1);
    const world = shopWorld.create();
    expect(world.reset(task)).toBe(task.firstObservation);
    expect(world.rawFirstObservation()).toBe(`WebShop [SEP] Instruction: [SEP] ${task.instruction} [SEP] Search`);
    expect(world.admissible()).toEqual(['search[<query>]']);
  });

  it('lists what it accepts, sorted, in lower case', () => {
    const world = new ShopWorld();
    world.reset(trainingTasks(1)[0]);
    expect(world.availableActions()).toEqual({ hasSearchBar: true, clickables: [] });
    world.step('search[sofa]');
    const { clickables, hasSearchBar } = world.availableActions();
    expect(hasSearchBar).toBe(false);
    expect(clickables.slice(0, 2)).toEqual(['back to search', 'next >']);
    expect(clickables).toHaveLength(12);
    expect(world.admissible()).toEqual([...clickables.map((label) => `click[${label}]`), 'search[<query>]'].sort());
  });

  it('comes back to any state, in any shop, whatever happened since', () => {
    const [task, other] = trainingTasks(2);
    const world = new ShopWorld();
    world.reset(task);
    world.step('search[water bottle]');
    world.step(`click[${world.shown[1].asin}]`);
    world.step(`click[${world.product?.options[0].values[1]}]`);
    const snapshot = structuredClone(world.snapshot());
    const seen = [world.observation(), world.rawObservation(), world.admissible()];
    const end = world.step('click[buy now]');
    const bought = world.snapshot();
    const score = world.lastScore;
    const elsewhere = new ShopWorld();
    elsewhere.reset(other);
    elsewhere.restore(snapshot);
    expect([elsewhere.observation(), elsewhere.rawObservation(), elsewhere.admissible()]).toEqual(seen);
    expect(elsewhere.step('click[buy now]')).toEqual(end);
    world.restore(snapshot);
    expect(world.lastScore).toBeNull();
    world.restore(bought);
    expect(world.lastScore).toEqual(score);
  });

  it('is deterministic', () => {
    const episode = () => {
      const world = new ShopWorld();
      world.reset(trainingTasks(5)[4]);
      const shopper = new Shopper('noisy', world, new Random(9));
      const results = [];
      for (let action = shopper.next(); action !== null && results.length < 30; action = shopper.next()) {
        results.push(world.step(action));
      }
      return results;
    };
    expect(episode()).toEqual(episode());
  });
});

describe('speed', () => {
  // A tenth of what is asked of an ordinary machine: this fails for a wrong algorithm, not for a busy one.
  it('is far beyond a server', () => {
    const world = new ShopWorld();
    const tasks = trainingTasks(100);
    const started = performance.now();
    for (let episode = 0; episode < 200; episode++) {
      world.reset(tasks[episode % 100]);
      world.step(`search[${episode % 2 ? 'steel' : 'soft'} ${shopData(world.task).goal.query}]`);
      world.step(`click[${world.shown[0].asin}]`);
      for (const action of ['click[features]', 'click[< prev]', 'click[description]', 'click[< prev]'])
        world.step(action);
      world.step(`search[${shopData(world.task).goal.query}]`);
      for (const action of ['click[next >]', 'click[< prev]', 'click[nothing of the kind]']) world.step(action);
    }
    expect(200 / ((performance.now() - started) / 1000)).toBeGreaterThan(50);
    const snapshot = world.snapshot();
    world.step('search[sofa]');
    const results = world.snapshot();
    const restoring = performance.now();
    for (let i = 0; i < 5000; i++) {
      world.restore(i % 2 ? snapshot : results);
      world.snapshot();
    }
    expect(((performance.now() - restoring) / 5000) * 1000).toBeLessThan(20);
  });
});

describe('shoppers', () => {
  it('differ as their names say', () => {
    const results = Object.fromEntries(SHOPPER_KINDS.map((kind) => [kind, play(kind, 60)])) as Record<
      ShopperKind,
      ReturnType<typeof play>
    >;
    expect(results.expert.won).toBe(1);
    expect(results.expert.steps).toBeLessThan(8);
    expect(results.clumsy.won).toBeGreaterThan(0.8);
    expect(results.clumsy.steps).toBeGreaterThan(results.expert.steps + 1);
    expect(results.noisy.won).toBeGreaterThan(0.7);
    expect(results.hasty.won).toBeLessThan(0.5);
    expect(results.hasty.score).toBeGreaterThan(results.hasty.won);
    expect(results.random.won).toBeLessThan(0.15);
  });

  it('win every kind of task as experts, within fifteen steps', () => {
    const world = shopWorld.create();
    for (const task of [...trainingTasks(150), ...heldOutTasks(150)]) {
      world.reset(task);
      let reward = 0;
      for (let step = 0; step < 15 && reward === 0; step++) reward = world.step(shopWorld.expert(world) ?? '').reward;
      expect(reward, task.instruction).toBe(1);
      expect(shopWorld.expert(world)).toBeNull();
    }
  });

  it('leave an item that does not fit, and buy it when nothing else is left', () => {
    const world = new ShopWorld();
    world.reset(trainingTasks(1)[0]);
    world.step('search[sofa]');
    world.step(`click[${world.shown[0].asin}]`);
    expect(canFulfil(world, world.product!)).toBe(false);
    expect(expertAction(world)).toBe('click[< prev]');
    const bad = builtInCatalogue().products.filter(({ query }) => query === 'sofas');
    const small = new ShopWorld({ catalogue: new Catalogue('built-in', bad) });
    small.reset(trainingTasks(1)[0]);
    let done = false;
    for (let i = 0; i < 15 && !done; i++) done = small.step(expertAction(small)!).done;
    expect(done).toBe(true);
  });
});
