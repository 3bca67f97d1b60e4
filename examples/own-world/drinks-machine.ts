/**
 * A world of your own in one file: a drinks machine. Copy it and change it.
 *
 * A world is a default export of type `World`. What matters:
 *  - It is deterministic: the answer depends on the task and the actions only, never on a clock or `Math.random`.
 *  - Observations are short, regular text. The experience model has to learn them, so say the same thing the same way.
 *  - An impossible action changes nothing, says so (always with the same words) and has `valid: false`.
 *  - The reward is 1 at the step that achieves the task, and ends the episode.
 */
import type { StepResult, Task } from '../../src/envs/environment';
import type { PlayableEnvironment, Snapshot, World } from '../../src/envs/world';

const DRINKS = ['coffee', 'tea', 'cocoa', 'soup'] as const;
const SUGARS = ['no sugar', 'one sugar', 'two sugars'] as const;
const UNCHANGED = 'nothing happens';

/** What a task asks for. `price` is a property of the machine (the room), so the agent has to read it. */
interface Order {
  drink: string;
  sugars: number;
  price: number;
}

/** Everything that changes. Immutable, so that a snapshot is just a reference. */
interface Machine extends Snapshot {
  readonly coins: number;
  readonly cup: 'none' | 'empty' | 'full';
  readonly sugars: number;
  /** What is in the cup, with its sugars. */
  readonly served: string;
}

/** The task list is computed, so it is the same in every run: every machine, drink and amount of sugar. */
const TASKS: readonly Task[] = [1, 2, 3].flatMap((price) =>
  DRINKS.flatMap((drink) =>
    SUGARS.map((sugar, sugars): Task => {
      const order: Order = { drink, sugars, price };
      return {
        id: `drinks-machine/${price}/${drink}/${sugars}`,
        instruction: `serve a ${drink} with ${sugar}`,
        room: `machine-${price}`,
        family: sugars === 0 ? 'plain' : 'sweetened',
        firstObservation: `machine price ${price} coins 0 sugar 0 cup none`,
        data: order,
      };
    }),
  ),
);
/** Every fifth task is only ever used to evaluate. */
const isHeldOut = (_: Task, i: number) => i % 5 === 4;

class DrinksMachine implements PlayableEnvironment<Machine> {
  private machine: Machine = { task: TASKS[0], coins: 0, cup: 'none', sugars: 0, served: '' };

  reset(task: Task): string {
    this.machine = { task, coins: 0, cup: 'none', sugars: 0, served: '' };
    return this.look();
  }

  step(action: string): StepResult {
    const next = this.after(action.trim());
    if (next === null) return { observation: UNCHANGED, reward: 0, done: false, valid: false, imagined: false };
    this.machine = next;
    const success = next.cup === 'none' && next.served === this.wanted();
    const observation = next.served !== '' && next.cup === 'none' ? `took ${next.served}` : this.look();
    return { observation, reward: success ? 1 : 0, done: success, valid: true, imagined: false };
  }

  rawFirstObservation(): string {
    return `${this.look()}\nYour task is to: ${this.machine.task.instruction}.`;
  }

  admissible(): string[] {
    const commands = ['insert coin', 'add sugar', 'place cup', 'take cup', ...DRINKS.map((drink) => `press ${drink}`)];
    return commands.filter((command) => this.after(command) !== null).sort();
  }

  snapshot(): Machine {
    return this.machine;
  }

  restore(snapshot: Machine): void {
    this.machine = snapshot;
  }

  /** What a competent customer does next. */
  hint(): string {
    const { cup, sugars, coins } = this.machine;
    const { drink, sugars: wanted, price } = this.order();
    if (cup === 'full' || sugars > wanted) return 'take cup';
    if (cup === 'none') return 'place cup';
    if (sugars < wanted) return 'add sugar';
    return coins < price ? 'insert coin' : `press ${drink}`;
  }

  /** The rules: the machine after a command, or null where it does nothing. */
  private after(command: string): Machine | null {
    const { machine } = this;
    const { coins, cup, sugars } = machine;
    if (command === 'insert coin') return coins < 5 ? { ...machine, coins: coins + 1 } : null;
    if (command === 'place cup') return cup === 'none' ? { ...machine, cup: 'empty', served: '' } : null;
    if (command === 'add sugar') return cup === 'empty' && sugars < 2 ? { ...machine, sugars: sugars + 1 } : null;
    if (command === 'take cup') {
      if (cup === 'none') return null;
      // An empty cup taken back takes its sugar along.
      return { ...machine, cup: 'none', sugars: 0, served: cup === 'full' ? machine.served : '' };
    }
    const drink = DRINKS.find((name) => command === `press ${name}`);
    const { price } = this.order();
    if (drink === undefined || cup !== 'empty' || coins < price) return null;
    return { ...machine, cup: 'full', coins: coins - price, served: `${drink} with ${SUGARS[sugars]}` };
  }

  private look(): string {
    const { coins, cup, sugars, served } = this.machine;
    const inside = cup === 'full' ? `cup ${served}` : `cup ${cup}`;
    return `machine price ${this.order().price} coins ${coins} sugar ${sugars} ${inside}`;
  }

  private order(): Order {
    return this.machine.task.data as Order;
  }

  private wanted(): string {
    const { drink, sugars } = this.order();
    return `${drink} with ${SUGARS[sugars]}`;
  }
}

const world: World = {
  name: 'drinks-machine',
  summary: 'A drinks machine with coins, cups and sugar: serve what is ordered.',
  trainingTasks: (count) => TASKS.filter((task, i) => !isHeldOut(task, i)).slice(0, count),
  heldOutTasks: (count) => TASKS.filter(isHeldOut).slice(0, count),
  create: () => new DrinksMachine(),
  expert: (environment) => (environment instanceof DrinksMachine ? environment.hint() : null),
};

export default world;
