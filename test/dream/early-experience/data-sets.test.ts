import { describe, expect, it } from 'vitest';
import {
  demonstrationExample,
  exploreWorld,
  reflectionExample,
  reflectionMessages,
  reflectOn,
  worldModelExamples,
} from '../../../src/dream/early-experience/data-sets';
import type { TextModel } from '../../../src/dream/text-models';
import { householdWorld, Random } from '../../../src/envs/household';
import { openWorld } from '../../../src/envs/registry';

const explore = (tasks: number) => [...exploreWorld(householdWorld, { tasks, alternatives: 3, maxSteps: 30, seed: 1 })];

function answering(answer: (call: number) => string): TextModel {
  let call = 0;
  return {
    kind: 'endpoint',
    label: 'scripted',
    limits: { logProbabilities: false, training: false, concurrency: 1, reason: '' },
    complete: async (requests) => {
      call++;
      return requests.map(() => ({ text: answer(call), finishReason: 'stop' as const }));
    },
    dispose() {},
  };
}

describe('what else could have been done', () => {
  it('tries other actions and takes them back: the demonstration goes on as without them', () => {
    const with3 = explore(6);
    const without = [...exploreWorld(householdWorld, { tasks: 6, alternatives: 0, maxSteps: 30, seed: 1 })];
    expect(with3.length).toBeGreaterThan(2);
    const told = (episodes: typeof with3) => episodes.map((steps) => steps.map((s) => [s.demonstrated, s.history]));
    expect(told(with3)).toEqual(told(without));
    const first = with3[0][0];
    expect(first.alternatives).toHaveLength(3);
    expect(first.alternatives.map((a) => a.action)).not.toContain(first.demonstrated.action);
    expect(with3.every((steps) => steps.at(-1)!.demonstrated.reward === 1)).toBe(true);
    expect(explore(6)).toEqual(with3);
  });

  it.each(['shop', 'web'])('works in the %s world, without templates', async (name) => {
    const world = await openWorld(name);
    const [steps] = exploreWorld(world, { tasks: 12, alternatives: 2, maxSteps: 20, seed: 1 });
    expect(steps.length).toBeGreaterThan(0);
    expect(steps.flatMap((s) => s.alternatives).every(({ action }) => !action.includes('<'))).toBe(true);
  });

  it('becomes examples of three kinds', () => {
    const step = explore(3)[0][1];
    const [system, user, assistant] = demonstrationExample(step).messages;
    expect([system.role, user.role, assistant.role]).toEqual(['system', 'user', 'assistant']);
    expect(assistant.content).toBe(step.demonstrated.action);
    expect(user.content.split('\n').at(-1)).toBe(step.history.at(-1));
    const worlds = worldModelExamples(step, new Random(1));
    expect(worlds[0].messages[2].content).toBe(step.demonstrated.state);
    expect(worlds[0].messages[1].content).toContain(`Action: ${step.demonstrated.action}`);
    expect(reflectionExample(step, 'I look\nfor a cup.').messages[2].content).toBe(
      `Thought: I look for a cup.\nAction: ${step.demonstrated.action}`,
    );
  });
});

describe('reflections by a model', () => {
  it('that leak are asked for again, and left out when they go on', async () => {
    const steps = explore(1)[0].slice(0, 2);
    const once = await reflectOn(
      steps,
      answering((call) => (call === 1 ? 'The expert is right.' : 'I expect a cup there.')),
    );
    expect(once.monologues).toEqual(['I expect a cup there.', 'I expect a cup there.']);
    expect(once.leaks).toEqual({ 'verdict-word': 2 });
    const never = await reflectOn(
      steps,
      answering(() => 'Action 2 seems worse.'),
      { retries: 1 },
    );
    expect(never).toMatchObject({ monologues: [null, null], leaks: { label: 4 }, questions: 4 });
  });

  it('are told why the last one could not be used', () => {
    const [, user] = reflectionMessages(explore(1)[0][0], 'it says "expert"');
    expect(user.content).toContain('could not be used: it says "expert"');
  });
});
