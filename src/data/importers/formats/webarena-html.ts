/**
 * @file WebArena's `render_<id>.html`: the task's settings, then per step the page's address, its accessibility tree and
 * the action. The official writer does not escape text, so it is read by its markers; markup is never interpreted.
 */
import type { Finding, FormatReader, FoundTurn, Piece } from '../pieces';
import { readAnswer } from './agent-answer';

const unescaped: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" };

export class WebarenaHtmlReader implements FormatReader {
  *read({ where, bytes }: Piece): Generator<Finding> {
    const html = new TextDecoder().decode(bytes);
    const steps = html.split(/<h2>New Page<\/h2>/);
    const settings = between(steps[0], '<pre>', '</pre>') ?? '';
    const instruction = /^intent: (.*)$/m.exec(settings)?.[1]?.trim();
    const id = /^task_id: (\d+)$/m.exec(settings)?.[1];
    const turns: FoundTurn[] = [];
    let first: string | null = null;
    for (const [i, step] of steps.slice(1).entries()) {
      const place = `${where} / step ${i + 1}`;
      const page = pageOf(step);
      if (page === null) {
        yield { where: place, why: 'no page in it' };
        continue;
      }
      if (turns.length === 0) first = page;
      else turns[turns.length - 1].observation = page;
      const action = actionOf(step);
      if (action === null) yield { where: place, why: 'no action in it' };
      else turns.push({ ...action, observation: null });
      if (/<img /.test(step)) yield { where: `${place} / screenshot`, why: 'pictures are not kept' };
    }
    if (turns.length === 0) yield { where, why: 'no step with an action' };
    else
      yield {
        episode: { where: id ? `task ${id}` : where, id, world: 'web', instruction, first, turns, outcome: null },
      };
  }

  *end(): Generator<Finding> {}
}

function pageOf(step: string): string | null {
  const obv = /class=['"]state_obv['"][^>]*>/.exec(step);
  const text = obv && between(step.slice(obv.index), '<pre>', '</pre>');
  if (text === null) return null;
  const address = /<h3 class=['"]url['"]>[\s\S]*?URL: (.*?)<\/a>/.exec(step)?.[1];
  return plain(address ? `URL: ${address}\n${text}` : text);
}

function actionOf(step: string): { thought: string; action: string } | null {
  const parsed = marked(step, 'parsed_action');
  const raw = marked(step, 'raw_parsed_prediction');
  const answer = raw ? readAnswer(plain(raw)) : null;
  // The parsed form adds "where [id] is ..." for readers; the id is what the world takes.
  const command =
    parsed &&
    plain(parsed)
      .replace(/ where \[\w+\] is [\s\S]*$/, '')
      .trim();
  if (command && !/^none/i.test(command)) return { thought: answer?.thought ?? '', action: command };
  return answer?.action ? { thought: answer.thought, action: answer.action } : null;
}

const marked = (step: string, name: string): string | null => {
  const at = new RegExp(`class=['"]${name}['"][^>]*>`).exec(step);
  return at && between(step.slice(at.index), '<pre>', '</pre>');
};

function between(text: string, begin: string, end: string): string | null {
  const from = text.indexOf(begin);
  if (from === -1) return null;
  const to = text.indexOf(end, from);
  return to === -1 ? null : text.slice(from + begin.length, to);
}

const plain = (text: string) => text.replace(/&(amp|lt|gt|quot|#39|#x27);/g, (_, name: string) => unescaped[name]);
