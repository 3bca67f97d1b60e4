/** @file WebArena's `json_dump.json`: `{example_<id>: {intent, messages: [{user, image}, {assistant}], success}}`. */
import { isJsonObject } from '../../json-object';
import type { Finding, FormatReader, Piece } from '../pieces';
import { episodeOf, type Message } from './conversation';
import { field, jsonIn, textOf } from './json-piece';
import { outcomeOf } from './outcome';

export class WebarenaJsonReader implements FormatReader {
  *read(piece: Piece): Generator<Finding> {
    const { where, path } = piece;
    const value = yield* jsonIn(piece);
    if (value === undefined) return;
    if (!isJsonObject(value) || !Array.isArray(field(value, 'messages'))) {
      yield { where, why: 'it has no messages' };
      return;
    }
    const messages: Message[] = [];
    for (const [i, turn] of (value.messages as unknown[]).entries()) {
      const place = `${where} / message ${i + 1}`;
      const user = isJsonObject(turn) ? textOf(field(turn, 'user')) : undefined;
      const agent = isJsonObject(turn) ? textOf(field(turn, 'assistant')) : undefined;
      if (user !== undefined)
        messages.push({ role: 'user', text: pageText(user), calls: [], train: false, where: place });
      else if (agent !== undefined) messages.push({ role: 'agent', text: agent, calls: [], train: true, where: place });
      else yield { where: place, why: 'neither a page nor an action' };
      if (isJsonObject(turn) && field(turn, 'image') !== undefined)
        yield { where: `${place} / image`, why: 'pictures are not kept' };
    }
    const { episode, dropped } = episodeOf(messages, where);
    yield* dropped;
    if (episode === null) {
      yield { where, why: 'no message with an action' };
      return;
    }
    const instruction = textOf(field(value, 'intent'));
    yield { episode: { ...episode, id: path.at(-1), world: 'web', instruction, outcome: outcomeOf(value) } };
  }

  *end(): Generator<Finding> {}
}

const pageText = (text: string) => text.replace(/\n\s*observation:\n/i, '\n');
