/**
 * @file A kitchen with ids as ALFWorld writes them: coordinates in the names, several receptacles at one place. The sentences
 * expected here are those of published ALFWorld episodes.
 */
import { describe, expect, it } from 'vitest';
import { type GameFile, gameTask, TextWorldGame } from '../../../src/envs/textworld';
import { DOMAIN, grammarOf } from './household-game';

/** `place` is where one stands; the ids come in no order. */
const RECEPTACLES: readonly [id: string, type: string, place: string][] = [
  ['Toaster_bar__plus_00_dot_13_bar__plus_00_dot_91', 'ToasterType', '4_bar_9'],
  ['Sink_bar__plus_01_dot_10_bar__minus_01_dot_62_bar_SinkBasin', 'SinkBasinType', '4_bar__minus_3'],
  ['CounterTop_bar__plus_00_dot_99_bar__plus_01_dot_02', 'CounterTopType', '2_bar_9'],
  ['CounterTop_bar__plus_00_dot_99_bar__minus_01_dot_52', 'CounterTopType', '4_bar__minus_4'],
  ['Fridge_bar__minus_00_dot_53_bar__plus_00_dot_00', 'FridgeType', '0_bar__minus_3'],
  ['CoffeeMachine_bar__plus_00_dot_50_bar__plus_00_dot_90', 'CoffeeMachineType', '2_bar__minus_3'],
  ['Cabinet_bar__plus_01_dot_66_bar__plus_02_dot_05', 'CabinetType', '1_bar_1'],
  ['Cabinet_bar__plus_01_dot_66_bar__minus_02_dot_06', 'CabinetType', '1_bar_1'],
  ['Cabinet_bar__minus_01_dot_66_bar__plus_02_dot_07', 'CabinetType', '1_bar_2'],
  ...['StoveBurner_bar__plus_01_dot_54', 'StoveBurner_bar__plus_01_dot_55', 'StoveBurner_bar__minus_01_dot_81'].map(
    (id): [string, string, string] => [id, 'StoveBurnerType', '4_bar_0'],
  ),
];

const CABINETS = RECEPTACLES.filter(([, type]) => type === 'CabinetType').map(([id]) => id);

function kitchen(): GameFile {
  const places = [...new Set(RECEPTACLES.map(([, , place]) => place))];
  const things = [
    ['Box_bar__plus_01', CABINETS[0], 'BoxType', '1_bar_1'],
    ['Pan_bar__plus_01', 'StoveBurner_bar__plus_01_dot_54', 'PanType', '4_bar_0'],
    ['Cup_bar__plus_01', 'CounterTop_bar__plus_00_dot_99_bar__plus_01_dot_02', 'CupType', '2_bar_9'],
    ['Cup_bar__minus_01', 'CounterTop_bar__plus_00_dot_99_bar__plus_01_dot_02', 'CupType', '2_bar_9'],
  ];
  const pddl_problem = `(define (problem kitchen) (:domain chores)
    (:objects agent1 - agent ${things.map(([id]) => id).join(' ')} - object
      ${RECEPTACLES.map(([id]) => id).join(' ')} - receptacle
      loc_bar_0 ${places.map((place) => `loc_bar_${place}`).join(' ')} - location
      BoxType PanType CupType KnifeType ButterKnifeType - otype
      MicrowaveType ${[...new Set(RECEPTACLES.map(([, type]) => type))].join(' ')} - rtype)
    (:init (atLocation agent1 loc_bar_0) (canContain CabinetType BoxType) (canContain FridgeType CupType)
      ${RECEPTACLES.map(([id, type, place]) => `(receptacleType ${id} ${type}) (receptacleAtLocation ${id} loc_bar_${place})`).join('\n')}
      ${CABINETS.map((id) => `(openable ${id})`).join(' ')}
      ${things.map(([id, at, type, place]) => `(objectType ${id} ${type}) (inReceptacle ${id} ${at}) (pickupable ${id}) (objectAtLocation ${id} loc_bar_${place})`).join('\n')})
    (:goal (exists (?o - object ?r - receptacle) (and (inReceptacle ?o ?r) (objectType ?o CupType) (receptacleType ?r FridgeType)))))`;
  return { pddl_domain: DOMAIN, grammar: grammarOf('move', 'put a cup in fridge'), pddl_problem };
}

describe('a kitchen as ALFWorld writes it', () => {
  const start = () => {
    const world = new TextWorldGame();
    world.reset(gameTask(kitchen(), 'kitchen'));
    return world;
  };

  it('lists its receptacles by type, numbers running down', () => {
    const world = start();
    expect(world.rawFirstObservation()).toBe(
      '-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly around you, you see ' +
        'a cabinet 3, a cabinet 2, a cabinet 1, a coffeemachine 1, a countertop 2, a countertop 1, a fridge 1, ' +
        'a sinkbasin 1, a stoveburner 3, a stoveburner 2, a stoveburner 1, and a toaster 1.\n\n' +
        'Your task is to: put a cup in fridge.',
    );
    expect(world.step('go to countertop 1').raw).toBe(
      'You arrive at countertop 1. On the countertop 1, you see a cup 2, and a cup 1.',
    );
  });

  it('stands before all receptacles of a place at once', () => {
    const world = start();
    // cabinet 3 is alone (minus sorts before plus); 2 and 1 share a place, and so do the burners.
    world.step('go to cabinet 1');
    expect(world.step('look').raw).toBe('You are facing the cabinet 2, and cabinet 1. Next to it, you see nothing.');
    expect(world.admissible().filter((action) => action.startsWith('open '))).toEqual([
      'open cabinet 1',
      'open cabinet 2',
    ]);
    expect(world.step('open cabinet 1').raw).toBe(
      'You open the cabinet 1. The cabinet 1 is open. In it, you see a box 1.',
    );
    world.step('take box 1 from cabinet 1');
    world.step('open cabinet 2');
    expect(world.step('move box 1 to cabinet 2').raw).toBe('You move the box 1 to the cabinet 2.');
    // What an action took out of cabinet 1 is "not in cabinet 1" from then on, as published episodes show.
    expect(world.step('look').raw).toBe('You are facing the cabinet 2, and cabinet 1. Next to it, you see a box 1.');
    world.step('go to stoveburner 2');
    expect(world.step('look').raw).toBe(
      'You are facing the stoveburner 3, stoveburner 2, and stoveburner 1. Next to it, you see nothing.',
    );
    expect(world.step('take pan 1 from stoveburner 2').valid).toBe(true);
  });

  it('is won like any other', () => {
    const world = start();
    const steps = ['go to countertop 1', 'take cup 2 from countertop 1', 'go to fridge 1', 'move cup 2 to fridge 1'];
    expect(steps.map((action) => world.step(action).reward)).toEqual([0, 0, 0, 1]);
    expect(world.goalSatisfied()).toBe(true);
  });
});
