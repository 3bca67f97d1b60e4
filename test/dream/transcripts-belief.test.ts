import { describe, expect, it } from 'vitest';
import { Belief, contradictionIn, experienceThought, supportsSuccess, thoughtText } from '../../src/dream/transcripts';
import {
  DEMONSTRATOR_KINDS,
  Demonstrator,
  generateTask,
  HouseholdWorld,
  Random,
  WORLD_SIZES,
} from '../../src/envs/household';

/** Plays every kind of demonstrator and hands over each step together with the belief before it. */
function play(
  size: (typeof WORLD_SIZES)[number],
  episodes: number,
  visit: (step: {
    world: HouseholdWorld;
    belief: Belief;
    action: string;
    result: ReturnType<HouseholdWorld['step']>;
  }) => void,
): void {
  const world = new HouseholdWorld();
  for (let e = 0; e < episodes; e++) {
    const task = generateTask(size, 1 + e, e);
    const belief = new Belief(world.reset(task));
    const player = new Demonstrator(DEMONSTRATOR_KINDS[e % DEMONSTRATOR_KINDS.length], world, new Random(e));
    for (let step = 0; step < 30; step++) {
      const action = player.next();
      const result = world.step(action);
      visit({ world, belief, action, result });
      belief.observe(result.observation);
      if (result.done) break;
    }
  }
}

describe('Belief', () => {
  it.each(WORLD_SIZES)('decides validity and reward of every %s-world step from text alone', (size) => {
    let steps = 0;
    let rewards = 0;
    let invalid = 0;
    play(size, 600, ({ world, belief, action, result }) => {
      const thought = experienceThought(belief, world.goal, action);
      const context = `${world.task.id} > ${action} | ${thoughtText(thought)} | ${result.observation}`;
      expect(thought.judgement.valid, context).toBe(result.valid);
      expect(thought.reached ? 1 : 0, context).toBe(result.reward);
      expect(contradictionIn(belief, { action, observation: result.observation }), context).toBe(null);
      steps++;
      rewards += result.reward;
      if (!result.valid) invalid++;
    });
    expect(steps).toBeGreaterThan(5000);
    expect(rewards).toBeGreaterThan(100);
    expect(invalid).toBeGreaterThan(200);
  });

  it('keeps track of the true place, hand and contents', () => {
    play('small', 120, ({ world, belief, result }) => {
      belief.observe(result.observation);
      const { state, room } = world;
      expect(belief.at).toBe(state.location < 0 ? null : room.receptacleNames[state.location]);
      expect(belief.hold).toBe(state.holding < 0 ? null : room.objectNames[state.holding]);
      for (const [object, place] of belief.places)
        expect(state.objectAt[room.objectIndex.get(object)!]).toBe(room.receptacleIndex.get(place));
    });
  });
});

describe('what text can prove', () => {
  const first = 'room shelf 1 sinkbasin 1 cabinet 1';
  const goal = { family: 'pick_clean_then_place_in_recep', object: 'cup', receptacle: 'shelf' } as const;
  const honest = [
    { action: 'go to sinkbasin 1', observation: 'at sinkbasin 1 see cup 1' },
    { action: 'take cup 1 from sinkbasin 1', observation: 'take cup 1 sinkbasin 1' },
    { action: 'clean cup 1 with sinkbasin 1', observation: 'clean cup 1 sinkbasin 1' },
    { action: 'go to shelf 1', observation: 'at shelf 1 see nothing' },
    { action: 'put cup 1 in/on shelf 1', observation: 'put cup 1 shelf 1' },
  ];

  it('supports an honest success, and only at its last step', () => {
    expect(supportsSuccess(goal, first, honest)).toBe(true);
    expect(supportsSuccess(goal, first, honest.slice(0, 4))).toBe(false);
    expect(supportsSuccess(goal, first, [])).toBe(false);
  });

  it('rejects what the text does not show', () => {
    const without = (i: number) => honest.filter((_, j) => j !== i);
    for (let i = 0; i < honest.length; i++) expect(supportsSuccess(goal, first, without(i))).toBe(false);
    const unseen = honest.with(0, { action: 'go to sinkbasin 1', observation: 'at sinkbasin 1 see nothing' });
    expect(supportsSuccess(goal, first, unseen)).toBe(false);
    const elsewhere = honest.map(({ action, observation }) => ({
      action: action.replace('shelf 1', 'shelf 2'),
      observation: observation.replace('shelf 1', 'shelf 2'),
    }));
    expect(supportsSuccess(goal, first, elsewhere)).toBe(false);
    const refused = honest.with(2, { action: honest[2].action, observation: 'nothing happens' });
    expect(supportsSuccess(goal, first, refused)).toBe(false);
  });

  it('names contradictions', () => {
    const belief = new Belief(first);
    const told = (action: string, observation: string) => contradictionIn(belief, { action, observation });
    expect(told('go to shelf 9', 'at shelf 9 see nothing')).toBe('impossible-accepted');
    expect(told('go to shelf 1', 'nothing happens')).toBe('possible-refused');
    expect(told('go to shelf 1', 'at cabinet 1 closed')).toBe('wrong-answer');
    belief.observe('at sinkbasin 1 see cup 1 cup 2');
    expect(told('take cup 1 from sinkbasin 1', 'take cup 2 sinkbasin 1')).toBe('wrong-answer');
    expect(told('examine sinkbasin 1', 'at sinkbasin 1 see cup 1')).toBe('contents-changed');
    expect(told('go to shelf 1', 'at shelf 1 see cup 2')).toBe('object-doubled');
    expect(told('go to shelf 1', 'at shelf 1 see mug 1')).toBe(null);
    expect(told('dance', 'nothing happens')).toBe(null);
  });
});
