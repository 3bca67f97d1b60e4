/** @file From the file's words to the one record type: world recognised, states made abstract, the raw text kept beside. */
import { abstractStates } from '../abstract-states';
import type { Trajectory, Turn } from '../trajectory';
import { textHash } from './hash';
import type { FoundEpisode, WorldName } from './pieces';

/** How the outcome is known. `assumed`: the format holds successes only. `unknown`: never used as a reward. */
export type OutcomeKnown = 'given' | 'assumed' | 'unknown';

/** What `task.data` of an imported trajectory is. */
export interface ImportedData {
  imported: true;
  world: WorldName;
  outcome: OutcomeKnown;
  /** Indices of turns the file says not to learn from (AgentGym's `loss: false`). */
  skip: number[];
  /** Side of a preference pair; both sides have the same task id. */
  preference?: 'chosen' | 'rejected';
}

export interface ImportedEpisode {
  /** Where it stands in the file. */
  where: string;
  /** `source: 'offline'`; `task.data` is an ImportedData. Observations that the file does not have are empty. */
  trajectory: Trajectory;
  /** The file's own words; `turns[i]` belongs to `trajectory.turns[i]`. */
  raw: {
    id?: string;
    preamble?: string;
    first: string;
    turns: { action: string; observation: string }[];
  };
}

const worlds = ['household', 'shop', 'web'] as const;

function worldOf({ world, first, turns }: FoundEpisode): WorldName {
  if (world) return world;
  const actions = turns.map(({ action }) => action);
  return worlds.find((name) => abstractStates[name].recognises(first ?? '', actions)) ?? 'text';
}

export function importedEpisode(found: FoundEpisode): ImportedEpisode {
  const world = worldOf(found);
  const states = abstractStates[world];
  const split = states.split(found.first ?? '');
  const instruction = (found.instruction ?? split.instruction ?? '').trim().replace(/\.$/, '');
  const mapped = states.begin();
  const firstObservation = found.firstState ?? (found.first === null ? '' : mapped.first(split.observation));
  const outcome: OutcomeKnown = found.outcome === null ? 'unknown' : found.assumed ? 'assumed' : 'given';
  const total = found.outcome ?? 0;
  const turns = found.turns.map((turn, i): Turn => {
    const isLast = i === found.turns.length - 1;
    const action = states.action(turn.action);
    const observation = turn.state ?? (turn.observation === null ? '' : mapped.next(action, turn.observation));
    return {
      thought: turn.thought,
      action,
      actionTokens: [],
      actionLogProbs: [],
      observation,
      reasoning: '',
      reward: turn.reward ?? (isLast ? total : 0),
      done: isLast && outcome !== 'unknown',
      valid: observation !== states.unchanged,
    };
  });
  const skip = found.turns.flatMap((turn, i) => (turn.train === false ? [i] : []));
  const room = `${world}:${found.room ?? states.room(firstObservation || instruction)}`;
  const data: ImportedData = {
    imported: true,
    world,
    outcome,
    skip,
    ...(found.preference && { preference: found.preference }),
  };
  return {
    where: found.where,
    trajectory: {
      task: {
        id: `imported-${textHash(`${room}\n${instruction}\n${firstObservation}`)}`,
        instruction,
        room: room.length > 200 ? `${world}:${textHash(room)}` : room,
        family: states.family(instruction) ?? found.family ?? 'imported',
        firstObservation,
        data,
      },
      source: 'offline',
      firstObservation,
      turns,
      return: total,
      success: total >= 1,
      truncated: false,
      lost: false,
      group: 0,
    },
    raw: {
      ...(found.id !== undefined && { id: found.id }),
      ...(found.preamble !== undefined && { preamble: found.preamble }),
      first: found.first ?? '',
      turns: found.turns.map(({ action, observation }) => ({ action, observation: observation ?? '' })),
    },
  };
}

/** null for a trajectory that was not imported. */
export function importedData({ task }: Trajectory): ImportedData | null {
  const { data } = task;
  return typeof data === 'object' && data !== null && (data as Partial<ImportedData>).imported === true
    ? (data as ImportedData)
    : null;
}
