/**
 * @file Planning with the dream at test time (WebDreamer, arXiv 2411.06559): before every real action the policy proposes k,
 * the experience model imagines where each leads, some turns on, and the best is taken. Nothing is learned.
 *
 * An imagined future is worth its reward, earlier better than later; among futures without reward, one in which something
 * happens and something new is seen beats one in which nothing does; then what the policy proposes more often wins. The
 * dream goes on from the true history, so its mistakes do not pile up over the episode.
 */
import type { Turn } from '../data/trajectory';
import type { Task } from '../envs/environment';
import type { LanguageModel, Sessions } from '../nn/language-model';
import type { Domain } from './domain';
import type { DreamOptions } from './dream-options';
import { DreamedEnvironment } from './experience-model';
import { deriveSeed } from './random';

export interface PlanningRequest {
  policy: LanguageModel;
  /** Who imagines, with its memories. */
  dream: Omit<DreamOptions, 'domain'>;
  domain: Domain;
  tasks: readonly Task[];
  /** Proposals per step. */
  candidates: number;
  /** Turns imagined after the proposed one, the policy acting. */
  lookahead: number;
  maxSteps: number;
  /** Of the proposals. */
  temperature: number;
  seed: number;
  onTurn?: (fraction: number) => Promise<void> | void;
}

export interface PlannedEpisode {
  task: Task;
  success: boolean;
  turns: Pick<Turn, 'action' | 'observation' | 'reward' | 'valid'>[];
}

export interface PlanningReport {
  episodes: PlannedEpisode[];
  realSteps: number;
  imaginedSteps: number;
  /** Share of steps at which the plan took another action than the policy's first proposal. */
  changed: number;
}

/** What lies one turn nearer is worth more. */
const haste = 0.9;
/** Far below any reward: they only order futures without one. */
const somethingHappened = 1e-2;
const somethingNew = 1e-2;
const perProposal = 1e-4;

interface Candidate {
  episode: number;
  stream: number;
  words: number[];
  action: string;
  /** How many of the episode's proposals say the same. */
  votes: number;
  value: number;
}

/** Plays `tasks` in the real world, planning every action. Throws `no-true-history`. */
export async function playPlanned(request: PlanningRequest): Promise<PlanningReport> {
  const { policy, domain, tasks, candidates, maxSteps } = request;
  const role = domain.dialect.policy;
  const world = domain.realWorld();
  const firsts = await world.reset(tasks, deriveSeed(request.seed, 'world'));
  const report: PlanningReport = {
    episodes: tasks.map((task) => ({ task, success: false, turns: [] })),
    realSteps: 0,
    imaginedSteps: 0,
    changed: 0,
  };
  // Stream i is the episode itself; its proposals live behind all episodes.
  const sessions = policy.sessions(tasks.length * (1 + candidates));
  let decisions = 0;
  try {
    tasks.forEach((task, i) => {
      sessions.append(i, role.opening(task, firsts[i]));
    });
    const over = tasks.map(() => false);
    for (let turn = 0; turn < maxSteps; turn++) {
      await request.onTurn?.(turn / maxSteps);
      const playing = tasks.map((_, i) => i).filter((i) => !over[i]);
      if (playing.length === 0) break;
      const proposed = await propose(request, sessions, playing, turn);
      await imagine(request, sessions, report, proposed, turn);
      const actions: (string | null)[] = tasks.map(() => null);
      const taken = new Map<number, Candidate>();
      for (const i of playing) {
        const own = proposed.filter((one) => one.episode === i);
        const best = own.reduce<Candidate | undefined>((a, b) => (a && a.value >= b.value ? a : b), undefined);
        if (!best) {
          // Nothing readable was proposed: the episode goes no further.
          over[i] = true;
          continue;
        }
        decisions++;
        if (best.action !== own[0].action) report.changed++;
        taken.set(i, best);
        actions[i] = best.action;
      }
      const results = await world.step(actions);
      for (const [i, { words, action }] of taken) {
        const result = results[i]!;
        const { observation, reward, valid, done } = result;
        report.realSteps++;
        report.episodes[i].turns.push({ action, observation, reward, valid });
        if (reward > 0) report.episodes[i].success = true;
        over[i] = done || !fits(sessions, i, words, role.reply(words, observation), role.maxNewTokens);
        if (!over[i]) sessions.append(i, [...words, ...role.reply(words, observation)]);
      }
    }
  } finally {
    sessions.dispose();
  }
  report.changed = decisions === 0 ? 0 : report.changed / decisions;
  return report;
}

/** k proposals per episode, equal actions merged; the first is what the policy would have done. */
async function propose(
  { domain, candidates, temperature, seed, tasks }: PlanningRequest,
  sessions: Sessions,
  playing: readonly number[],
  turn: number,
): Promise<Candidate[]> {
  const role = domain.dialect.policy;
  const streamsOf = (i: number) => Array.from({ length: candidates }, (_, k) => tasks.length + i * candidates + k);
  for (const i of playing) await sessions.copy(i, streamsOf(i));
  const streams = playing.flatMap(streamsOf);
  const answers = await sessions.generate(streams, {
    temperature,
    seed: deriveSeed(seed, 'proposals', turn),
    stopTokens: role.stopTokens,
    maxNewTokens: role.maxNewTokens,
  });
  const found: Candidate[] = [];
  streams.forEach((stream, s) => {
    const episode = playing[Math.floor(s / candidates)];
    const { tokens, stopped } = answers[s];
    const action = stopped ? role.parse(tokens)?.action : undefined;
    if (!action) return;
    const same = found.find((one) => one.episode === episode && one.action === action);
    if (same) same.votes++;
    else found.push({ episode, stream, words: [...tokens], action, votes: 1, value: 0 });
  });
  return found;
}

/** Gives every candidate its value. */
async function imagine(
  request: PlanningRequest,
  sessions: Sessions,
  report: PlanningReport,
  proposed: readonly Candidate[],
  turn: number,
): Promise<void> {
  const { domain, tasks, lookahead, temperature, seed } = request;
  const role = domain.dialect.policy;
  const dream = new DreamedEnvironment({ ...request.dream, domain });
  try {
    await dream.resume(
      proposed.map(({ episode }) => tasks[episode]),
      proposed.map(({ episode }) => report.episodes[episode].turns),
      deriveSeed(seed, 'dream', turn),
    );
    const active = proposed.map(() => true);
    const words = proposed.map((one) => one.words);
    let actions: (string | null)[] = proposed.map((one) => one.action);
    for (let depth = 0; ; depth++) {
      const results = await dream.step(actions);
      results.forEach((result, c) => {
        if (!result) return;
        report.imaginedSteps++;
        const candidate = proposed[c];
        const seen = report.episodes[candidate.episode].turns.some((t) => t.observation === result.observation);
        if (depth === 0) {
          candidate.value += perProposal * candidate.votes;
          if (result.valid) candidate.value += somethingHappened;
          if (result.valid && !seen) candidate.value += somethingNew;
        }
        if (!result.lost) candidate.value += haste ** depth * result.reward;
        const reply = role.reply(words[c], result.observation);
        if (result.done || result.lost || !fits(sessions, candidate.stream, [], reply, role.maxNewTokens))
          active[c] = false;
        else if (depth < lookahead) sessions.append(candidate.stream, reply);
      });
      const going = proposed.map((_, c) => c).filter((c) => active[c]);
      if (depth >= lookahead || going.length === 0) return;
      const answers = await sessions.generate(
        going.map((c) => proposed[c].stream),
        {
          temperature,
          seed: deriveSeed(seed, 'imagined', turn, depth),
          stopTokens: role.stopTokens,
          maxNewTokens: role.maxNewTokens,
        },
      );
      actions = proposed.map(() => null);
      going.forEach((c, j) => {
        words[c] = [...answers[j].tokens];
        const action = answers[j].stopped ? role.parse(answers[j].tokens)?.action : undefined;
        if (action) actions[c] = action;
        else active[c] = false;
      });
    }
  } finally {
    dream.dispose();
  }
}

function fits(
  sessions: Sessions,
  stream: number,
  words: readonly number[],
  reply: readonly number[],
  turnTokens: number,
): boolean {
  return sessions.length(stream) + words.length + reply.length + turnTokens <= sessions.contextLength;
}
