/** @file This program's own record, one episode a line: what `dream import --out` and the exporters write. */
import * as v from 'valibot';
import { isJsonObject } from '../../json-object';
import type { Trajectory } from '../../trajectory';
import type { Finding, FormatReader, FoundTurn, Piece } from '../pieces';
import { trajectorySchema } from '../run-schema';
import { jsonIn } from './json-piece';

export class TrajectoryReader implements FormatReader {
  *read(piece: Piece): Generator<Finding> {
    const { where } = piece;
    const value = yield* jsonIn(piece);
    if (value === undefined) return;
    const checked = v.safeParse(trajectorySchema, value, { abortEarly: true });
    if (!checked.success) {
      const [issue] = checked.issues;
      yield { where, why: `${v.getDotPath(issue) ?? 'the record'} is not what a trajectory has there` };
      return;
    }
    const { task, turns, firstObservation, ...trajectory } = checked.output as Trajectory;
    if (turns.length === 0) {
      yield { where, why: 'no turn in it' };
      return;
    }
    const world = isJsonObject(value) && isJsonObject(task.data) ? task.data.world : undefined;
    yield {
      episode: {
        where,
        id: task.id,
        world: world === 'shop' || world === 'web' || world === 'text' ? world : 'household',
        instruction: task.instruction,
        family: task.family,
        room: task.room,
        first: firstObservation,
        firstState: firstObservation,
        turns: turns.map(
          ({ thought, action, observation, reward }): FoundTurn => ({
            thought,
            action,
            observation,
            state: observation,
            reward,
          }),
        ),
        outcome: trajectory.lost ? null : trajectory.return,
      },
    };
  }

  *end(): Generator<Finding> {}
}
