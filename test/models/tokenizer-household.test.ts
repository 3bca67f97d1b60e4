import { describe, expect, it } from 'vitest';
import {
  DEMONSTRATOR_KINDS,
  Demonstrator,
  entityNames,
  generateTask,
  HouseholdWorld,
  OBJECT_TYPES,
  Random,
  RECEPTACLE_TYPES,
  WORLD_SIZES,
} from '../../src/envs/household';
import { householdTokenizer } from '../../src/models/household-vocabulary';
import { Tokenizer } from '../../src/models/tokenizer';

describe('the household vocabulary', () => {
  it.each(WORLD_SIZES)('says everything the %s world says, losslessly', (size) => {
    const tokenizer = householdTokenizer(size);
    const unknown = tokenizer.special['<unk>'];
    const world = new HouseholdWorld();
    const texts = new Set<string>();
    for (let e = 0; e < 600; e++) {
      const task = generateTask(size, 1 + (e % 150), e);
      texts.add(world.reset(task)).add(task.instruction);
      const player = new Demonstrator(DEMONSTRATOR_KINDS[e % DEMONSTRATOR_KINDS.length], world, new Random(e));
      for (let step = 0; step < 20 && !world.state.done; step++) {
        for (const command of world.admissible()) texts.add(command);
        const action = player.next();
        texts.add(action).add(world.step(action).observation);
      }
    }
    expect(texts.size).toBeGreaterThan(2000);
    for (const text of texts) {
      const ids = tokenizer.encode(text);
      // Names no room of this size has (a weak player's `desklamp 3`) may be unknown; nothing else may.
      if (ids.includes(unknown)) expect(text).toMatch(/ \d+/);
      else expect(tokenizer.decode(ids)).toBe(text);
    }
    const spoken = [...texts].filter((text) => tokenizer.encode(text).includes(unknown));
    expect(spoken.length / texts.size).toBeLessThan(0.05);
  });

  it('is small enough for the embedded model, and pinned', () => {
    const tokenizer = householdTokenizer('small');
    expect(tokenizer.vocabSize).toBe(208);
    expect(tokenizer.vocabSize % 16).toBe(0);
    // The embedded model was trained with exactly this list: changing it means training it again.
    expect(tokenizer.id('<r1>')).toBe(9);
    expect(tokenizer.id('1')).toBe(14);
    expect(tokenizer.encode('put a clean cup in cabinet')).toHaveLength(5);
    expect(tokenizer.encode('take cup 1 from shelf 1')).toHaveLength(4);
  });

  it.each(WORLD_SIZES)('gives every %s-world entity one token with a shared type and number', (size) => {
    const tokenizer = householdTokenizer(size);
    const parts = tokenizer.embeddingParts();
    for (const name of entityNames(size)) {
      const id = tokenizer.id(name);
      expect(id, name).toBeGreaterThan(0);
      expect(tokenizer.encode(name)).toEqual([id]);
      const [type, number] = parts.subarray(id * 2, id * 2 + 2);
      expect(`${tokenizer.tokens[type]} ${tokenizer.tokens[number]}`).toBe(name);
      expect(RECEPTACLE_TYPES.has(tokenizer.tokens[type]) || OBJECT_TYPES.has(tokenizer.tokens[type])).toBe(true);
    }
    expect(parts.filter((part) => part >= 0).length).toBe(entityNames(size).length * 2);
  });

  it.each(WORLD_SIZES)('survives the file format (%s)', (size) => {
    const tokenizer = householdTokenizer(size);
    const back = Tokenizer.fromJSON(JSON.parse(JSON.stringify(tokenizer.toJSON())));
    expect(back.tokens).toEqual(tokenizer.tokens);
    expect(back.embeddingParts()).toEqual(tokenizer.embeddingParts());
  });
});
