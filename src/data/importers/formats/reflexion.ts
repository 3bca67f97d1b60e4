/** @file Reflexion's logs, `{name, memory: [...], is_success}`: they keep what the agent told itself, but not one step. */
import { isJsonObject } from '../../json-object';
import type { Finding, FormatReader, Piece } from '../pieces';
import { jsonIn } from './json-piece';

export class ReflexionReader implements FormatReader {
  *read(piece: Piece): Generator<Finding> {
    const value = yield* jsonIn(piece);
    if (value === undefined) return;
    if (!isJsonObject(value)) yield { where: piece.where, why: 'not an entry of a Reflexion log' };
    else yield { where: piece.where, why: 'reflections and an outcome only: a Reflexion log has no steps' };
  }

  *end(): Generator<Finding> {}
}
