/** @file Reflexion's logs, `{name, memory: [...], is_success}`: they keep what the agent told itself, but not one step. */
import type { Finding, FormatReader, Piece } from '../pieces';
import { isFields, jsonOf } from './json-piece';

export class ReflexionReader implements FormatReader {
  *read(piece: Piece): Generator<Finding> {
    const json = jsonOf(piece);
    if (json === null) return;
    if ('why' in json) yield json;
    else if (!isFields(json.value)) yield { where: piece.where, why: 'not an entry of a Reflexion log' };
    else yield { where: piece.where, why: 'reflections and an outcome only: a Reflexion log has no steps' };
  }

  *end(): Generator<Finding> {}
}
