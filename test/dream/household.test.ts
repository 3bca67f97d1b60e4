/** @file The household binding: with models that know the truth, a dream in its language must be the real world. */
import { describe, expect, it } from 'vitest';
import { DreamedEnvironment } from '../../src/dream/experience-model';
import { measureFidelity } from '../../src/dream/fidelity';
import { householdDomain } from '../../src/dream/household';
import { ReplayBuffer } from '../../src/dream/replay-buffer';
import { rollOut } from '../../src/dream/rollouts';
import { Belief, experienceAnswer, experienceThought, policyAnswer } from '../../src/dream/transcripts';
import type { Task } from '../../src/envs/environment';
import { Demonstrator, HouseholdWorld, householdData, isHeldOut, Random } from '../../src/envs/household';
import { householdTokenizer } from '../../src/models/household-vocabulary';
import type { Generated, Sessions } from '../../src/nn/language-model';
import { cpuTopK } from './cpu-top-k';
import { KnowingModel } from './fake-models';

const tokenizer = householdTokenizer('small');
const domain = householdDomain(tokenizer);
const tasks = domain.trainingTasks().slice(0, 40);

/** Streams that answer by a function of (stream, all its tokens); the context is that of the embedded model. */
class Scripted extends KnowingModel {
  constructor(private readonly say: (stream: number, tokens: readonly number[]) => number[]) {
    super();
  }
  override sessions(count: number): Sessions {
    const streams: number[][] = Array.from({ length: count }, () => []);
    return {
      count,
      contextLength: 768,
      length: (i) => streams[i].length,
      append: (i, tokens) => void streams[i].push(...tokens),
      generate: async (which) =>
        which.map((i): Generated => {
          const tokens = this.say(i, streams[i]);
          streams[i].push(...tokens);
          return { tokens, logProbs: tokens.map(() => -0.5), stopped: true };
        }),
      copy: async (from, to) => {
        for (const i of to) streams[i] = [...streams[from]];
      },
      clear: (i) => {
        streams[i] = [];
      },
      dispose: () => {},
    };
  }
}

/** A mixture of scripted players, each in its own copy of the real world. */
function actors(list: readonly Task[]): Scripted {
  const players = list.map((task, i) => {
    const world = new HouseholdWorld();
    world.reset(task);
    const kind = (['expert', 'clumsy', 'noisy', 'weak'] as const)[i % 4];
    return { world, player: new Demonstrator(kind, world, new Random(i)) };
  });
  return new Scripted((i) => {
    const action = players[i].player.next();
    players[i].world.step(action);
    return policyAnswer(tokenizer, 'hold nothing object nothing', action);
  });
}

/** Dreams nothing but the truth: reads the action out of its stream and asks the real world. */
function oracle(list: readonly Task[]): Scripted {
  const worlds = list.map((task) => {
    const world = new HouseholdWorld();
    return { world, belief: new Belief(world.reset(task)), goal: householdData(task).goal };
  });
  return new Scripted((i, tokens) => {
    const question = tokens.slice(tokens.lastIndexOf(tokenizer.special['>']) + 1);
    const action = tokenizer.decode(question.slice(0, question.indexOf(tokenizer.special['\n'])));
    const { world, belief, goal } = worlds[i];
    const thought = experienceThought(belief, goal, action);
    const { observation, reward } = world.step(action);
    if (thought.judgement.valid) belief.observe(observation);
    return experienceAnswer(tokenizer, thought, observation, reward).tokens;
  });
}

const play = (environment: Parameters<typeof rollOut>[0]['environment']) =>
  rollOut({
    policy: actors(tasks),
    domain,
    environment,
    tasks,
    groups: tasks.map((_, i) => i),
    maxSteps: 16,
    temperature: 1,
    seed: 1,
  });

describe('the household domain', () => {
  it('dreamed by an oracle equals the real world, and its goal check refuses nothing true', async () => {
    const buffer = new ReplayBuffer(10_000);
    buffer.add(domain.offlineTransitions(5_000));
    const environment = new DreamedEnvironment({
      model: oracle(tasks),
      domain,
      buffer,
      topK: cpuTopK,
      retrievalTopK: 1,
      temperature: 1,
      goalCheck: true,
      stepCheck: true,
    });
    const [dreamed, real] = [await play(environment), await play(domain.realWorld())];
    const told = (report: typeof real) =>
      report.rollouts.map(({ trajectory }) => ({
        turns: trajectory.turns.map(({ reasoning: _, ...turn }) => turn),
        success: trajectory.success,
      }));
    expect(told(dreamed)).toEqual(told(real));
    expect(dreamed.rollouts.map((r) => r.stream)).toEqual(real.rollouts.map((r) => r.stream));
    expect(real.rollouts.filter((r) => r.trajectory.success).length).toBeGreaterThan(5);
    expect(environment.counts).toMatchObject({ malformed: 0, lost: 0, rejectedSuccesses: 0, contradictions: 0 });
    // Most questions of scripted players in known rooms find a memory.
    expect(environment.counts.recalled / environment.counts.questions).toBeGreaterThan(0.5);

    const fidelity = await measureFidelity(
      dreamed.rollouts.map((r) => r.trajectory),
      domain.realWorld(),
    );
    expect(fidelity).toMatchObject({ replayFalse: 0, replayPrecision: 1, rewardError: 0, nextStateAccuracy: 1 });
  });

  it('trains on nothing that is kept for evaluation', () => {
    expect(domain.trainingTasks().some(isHeldOut)).toBe(false);
    const heldOut = domain.heldOutTasks(200);
    expect(heldOut.every(isHeldOut)).toBe(true);
    expect(heldOut.slice(0, 50)).toEqual(domain.heldOutTasks(50));
    const rooms = new Set(domain.trainingTasks().map((task) => task.room));
    expect(heldOut.some((task) => rooms.has(task.room))).toBe(false);
    const evaluated = new Set(heldOut.map((task) => task.room));
    expect(domain.offlineTransitions(2000).some((t) => evaluated.has(t.room))).toBe(false);
  });

  it('makes tasks of readable sentences only, and judges feasibility by what was seen', () => {
    const memory = (nextState: string) => ({
      id: 0,
      source: 'offline' as const,
      episode: 'e',
      room: parent.room,
      task: '',
      state: parent.firstObservation,
      action: 'look',
      nextState,
      reward: 0,
    });
    const parent = tasks.find((task) => /shelf 1/.test(task.firstObservation))!;
    expect(domain.taskFrom(parent, 'put a cup')).toBeNull();
    expect(domain.taskFrom(parent, '')).toBeNull();
    const wordings = ['put a pen in shelf', 'put some pen on shelf', 'put a book in shelf', 'put a mug in shelf'];
    const made = wordings.map((text) => domain.taskFrom(parent, text)).filter((task) => task !== null);
    expect(made.length).toBeGreaterThan(0);
    for (const task of made) {
      expect(task).toMatchObject({ room: parent.room, family: 'pick_and_place_simple' });
      const { object } = householdData(task).goal;
      expect(domain.feasible(task, [])).toBe(false);
      expect(domain.feasible(task, [memory(`at shelf 1 see ${object} 1`)])).toBe(true);
      expect(domain.isNovel(task, [{ ...task, instruction: `put some ${object} on shelf` }])).toBe(false);
      expect(domain.isNovel(task, [{ ...task, instruction: `put two ${object} in shelf` }])).toBe(true);
    }
  });
});

describe('a dream that misses a success', () => {
  it('is granted what its own text shows, and only with the goal check', async () => {
    const task = tasks.find(({ family }) => family === 'pick_and_place_simple')!;
    for (const goalCheck of [true, false]) {
      const truth = oracle([task]);
      const blind = new Scripted(() => []);
      blind.sessions = (count) => {
        const streams = truth.sessions(count);
        const generate = streams.generate.bind(streams);
        const deny = (token: number) => (token === tokenizer.special['<r1>'] ? tokenizer.special['<r0>'] : token);
        streams.generate = async (which, options) =>
          (await generate(which, options)).map((answer) => ({ ...answer, tokens: answer.tokens.map(deny) }));
        return streams;
      };
      const environment = new DreamedEnvironment({
        model: blind,
        domain,
        buffer: new ReplayBuffer(10),
        topK: cpuTopK,
        retrievalTopK: 0,
        temperature: 1,
        goalCheck,
        stepCheck: true,
      });
      await environment.reset([task], 1);
      const world = new HouseholdWorld();
      world.reset(task);
      const player = new Demonstrator('expert', world, new Random(1));
      let real = { reward: 0, done: false };
      let dreamed: { reward: number } | null = null;
      for (let step = 0; step < 40 && !real.done; step++) {
        const action = player.next();
        real = world.step(action);
        [dreamed] = await environment.step([action]);
      }
      expect(real.reward).toBe(1);
      expect(dreamed?.reward).toBe(goalCheck ? 1 : 0);
      expect(environment.counts.grantedSuccesses).toBe(goalCheck ? 1 : 0);
    }
  });
});

describe('a dream that accepts everything', () => {
  it('is held to its own text: a place that the room does not have leads to the failure state', async () => {
    const [task] = tasks;
    const absent = ['drawer 3', 'cabinet 3', 'shelf 3', 'garbagecan 1'].find(
      (place) => !task.firstObservation.includes(place),
    )!;
    const present = task.firstObservation.split(' ').slice(1, 3).join(' ');
    const yes = new Scripted((_, tokens) => {
      const question = tokens.slice(tokens.lastIndexOf(tokenizer.special['>']) + 1);
      const action = tokenizer.decode(question.slice(0, question.indexOf(tokenizer.special['\n'])));
      const place = action.replace('go to ', '');
      return [
        ...tokenizer.encode('at room hold nothing new valid'),
        tokenizer.special['</t>'],
        ...tokenizer.encode(`at ${place} see nothing`),
        tokenizer.special['<r0>'],
      ];
    });
    const environment = new DreamedEnvironment({
      model: yes,
      domain,
      buffer: new ReplayBuffer(10),
      topK: cpuTopK,
      retrievalTopK: 0,
      temperature: 1,
      goalCheck: true,
      stepCheck: true,
    });
    await environment.reset([task], 1);
    const [refused] = await environment.step([`go to ${absent}`]);
    expect(refused).toMatchObject({ observation: 'nothing happens', valid: false, reward: 0, done: false });
    expect(environment.counts.refusals).toBe(1);
    const [accepted] = await environment.step([`go to ${present}`]);
    expect(accepted).toMatchObject({ observation: `at ${present} see nothing`, valid: true });
    expect(environment.counts.refusals).toBe(1);
  });
});
