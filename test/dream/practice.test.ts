import { describe, expect, it } from 'vitest';
import { isOver, partOfRun, practiceOf } from '../../src/dream/practice';

const config = {
  rollouts: 'dream' as const,
  iterations: 10,
  realIterations: 3,
  realBudget: 0,
  tasksPerIteration: 16,
  groupSize: 8,
  maxSteps: 16,
};

describe('where an iteration practises', () => {
  it('dreams first, then goes to the real world', () => {
    const worlds = Array.from({ length: 10 }, (_, i) => practiceOf(config, i + 1, { realTransitions: 0 }).world);
    expect(worlds).toEqual([...Array(7).fill('dream'), ...Array(3).fill('real')]);
    expect(practiceOf({ ...config, rollouts: 'real' }, 1, undefined).world).toBe('real');
    expect(practiceOf({ ...config, realIterations: 0 }, 10, undefined).world).toBe('dream');
  });

  it.each([128, 400, 1000, 1999, 5000])('never exceeds a budget of %i real transitions', (realBudget) => {
    const limited = { ...config, realBudget };
    let spent = 0;
    let iteration = 7;
    while (!isOver(limited, iteration, { realTransitions: spent })) {
      iteration++;
      const { mostTasks } = practiceOf(limited, iteration, { realTransitions: spent });
      // The worst case: every episode lasts to the step limit.
      spent += mostTasks * limited.groupSize * limited.maxSteps;
    }
    expect(spent).toBeLessThanOrEqual(realBudget);
    expect(spent).toBeGreaterThan(0);
    expect(iteration).toBeLessThanOrEqual(10);
  });

  it('lets the learning rate rise and fall over each part', () => {
    expect(partOfRun(config, 6)).toEqual({ iteration: 6, iterations: 7 });
    expect(partOfRun(config, 7)).toEqual({ iteration: 0, iterations: 3 });
    expect(partOfRun({ ...config, realIterations: 0 }, 9)).toEqual({ iteration: 9, iterations: 10 });
    expect(partOfRun({ ...config, rollouts: 'real' }, 8)).toEqual({ iteration: 8, iterations: 10 });
  });
});
