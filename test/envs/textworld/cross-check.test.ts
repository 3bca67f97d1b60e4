/**
 * @file The same room played twice: by our HouseholdWorld, and by the interpreter on the room's PDDL. Every command, answer,
 * reward and end must agree. Two independent readings of ALFWorld's rules, each the other's witness.
 */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  expertAction,
  generateTask,
  type HouseholdData,
  HouseholdWorld,
  Random,
  WORLD_SIZES,
} from '../../../src/envs/household';
import { type GameFile, gameTask, TextWorldGame } from '../../../src/envs/textworld';
import { householdGame } from './household-game';

/**
 * Where HouseholdWorld answers as ALFWorld's rules read and not as its engine does. The engine's `not_p` holds only once an
 * action has ended p, and `look` knows only the receptacles of the place it is asked for.
 */
function engineSays(ours: string): string {
  const room = 'You are in the middle of a room. Looking quickly around you, you see ';
  if (ours.startsWith(room)) return `${room}nothing.`;
  return ours.replace(/^This (\w+ \d+) is off\.$/, "There's nothing special about $1.");
}

/** Looks around, then wanders, then works; and now and then asks for what is not there. */
function nextAction(world: HouseholdWorld, step: number, random: Random): string {
  if (step === 0) return 'look';
  if (step % 8 === 7) return 'go to moon 1';
  const lamp = world.admissible().find((action) => /^examine \w+lamp/.test(action));
  if (lamp !== undefined && random.chance(0.3)) return lamp;
  return step >= 20 || random.chance(0.3) ? expertAction(world, random) : random.pick(world.admissible());
}

function compare(
  file: (task: { instruction: string; data: HouseholdData }) => GameFile,
  putGrammar: 'put' | 'move',
  seeds: number,
) {
  const lines = { compared: 0, differing: 0, won: 0 };
  for (const size of WORLD_SIZES) {
    for (let seed = 1; seed <= seeds; seed++) {
      const task = generateTask(size, seed, seed);
      const ours = new HouseholdWorld({ putGrammar });
      const first = ours.reset(task);
      const theirs = new TextWorldGame();
      const game = gameTask(file({ instruction: task.instruction, data: task.data as HouseholdData }), 'room');
      expect(theirs.reset(game)).toBe(first);
      expect(theirs.rawFirstObservation()).toBe(ours.rawFirstObservation(true));
      expect(game.instruction).toBe(task.instruction);
      const random = new Random(seed);
      for (let i = 0; i < 40 && !ours.state.done; i++) {
        const possible = ours.admissible();
        expect(theirs.admissible()).toEqual(possible);
        const action = nextAction(ours, i, random);
        const a = ours.step(action);
        const b = theirs.step(action);
        expect(b.raw).toBe(engineSays(a.raw!));
        if (a.raw === b.raw) expect(b).toEqual(a);
        else lines.differing++;
        expect([b.reward, b.done, b.valid]).toEqual([a.reward, a.done, a.valid]);
        lines.compared++;
        lines.won += a.reward;
      }
    }
  }
  return lines;
}

describe('a room as a text game', () => {
  it.each(['put', 'move'] as const)('is played as HouseholdWorld plays it (%s)', (putGrammar) => {
    const roomOf = new HouseholdWorld();
    const { compared, differing, won } = compare(
      ({ instruction, data }) => {
        roomOf.reset(generateTask(data.size, data.roomSeed, 1));
        return householdGame(roomOf.room, data.goal, putGrammar, instruction);
      },
      putGrammar,
      4,
    );
    expect(compared).toBeGreaterThan(200);
    expect(won).toBeGreaterThan(7);
    // The first `look` of each of the 12 games, and lamps before they were used.
    expect(differing).toBeGreaterThan(12);
  });
});

const samples = new URL('../../../../shared/samples/', import.meta.url);
const have = existsSync(new URL('alfworld_alfred.pddl', samples));

describe.runIf(have)("ALFWorld's own domain and grammar", () => {
  it('play our rooms as HouseholdWorld plays them', () => {
    const read = (name: string) => readFileSync(new URL(name, samples), 'utf8');
    const domain = read('alfworld_alfred.pddl');
    const grammar = read('alfworld_alfred.twl2');
    const roomOf = new HouseholdWorld();
    const { compared, differing, won } = compare(
      ({ instruction, data }) => {
        roomOf.reset(generateTask(data.size, data.roomSeed, 1));
        return {
          pddl_domain: domain,
          grammar: grammar.replace('UNKNOWN GOAL', instruction),
          pddl_problem: householdGame(roomOf.room, data.goal, 'move', '').pddl_problem,
        };
      },
      'move',
      4,
    );
    expect(compared).toBeGreaterThan(200);
    expect(won).toBeGreaterThan(7);
    // The first `look` of each of the 12 games, and lamps before they were used.
    expect(differing).toBeGreaterThan(12);
  });
});
