/**
 * @file The actions that the text so far allows. The household's text is complete about everything an agent could touch, so
 * in the real world this is the world's own list (`help` apart), and in a dream it is the list of the dreamed room.
 */
import { formatCommand } from '../../envs/household';
import type { Belief } from '../transcripts';

export function admissibleIn(belief: Belief): string[] {
  const { at, hold, receptacles, putGrammar } = belief;
  const asked = ['look', 'inventory', ...[...receptacles].map((place) => formatCommand('go', place, ''))];
  if (hold !== null) asked.push(formatCommand('examine', hold, ''));
  if (at !== null) {
    for (const verb of ['examine', 'open', 'close'] as const) asked.push(formatCommand(verb, at, ''));
    if (hold !== null)
      for (const verb of [putGrammar, 'clean', 'heat', 'cool'] as const) asked.push(formatCommand(verb, hold, at));
    for (const object of belief.contentsOf(at)) {
      for (const verb of ['examine', 'use'] as const) asked.push(formatCommand(verb, object, ''));
      asked.push(formatCommand('take', object, at));
      if (hold !== null) asked.push(formatCommand('slice', object, hold));
    }
  }
  return [...new Set(asked)].filter((action) => belief.judge(action).valid).sort();
}
