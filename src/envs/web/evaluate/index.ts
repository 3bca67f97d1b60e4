/**
 * @file A task's score: the product of its evaluators, each broken down into the conditions it checked.
 *
 * `evaluateNow` never waits and never guesses: what needs a judge or a live site is reported as such and scores null.
 * `evaluate` asks an injected judge what is left.
 */
import type { WebArenaTask } from '../configs';
import { textOf, type VElement } from '../nodes';
import {
  type Component,
  checkAnswer,
  exactMatch,
  includes,
  type Profile,
  type Question,
  type Verdict,
} from './answers';
import { locate } from './locators';
import { checkUrl } from './urls';

export {
  type Component,
  checkAnswer,
  cleanAnswer,
  type Profile,
  type Question,
  type Verdict,
  wordTokens,
} from './answers';
export { locate } from './locators';
export { parseSelector, queryAll } from './selectors';
export { checkUrl, splitUrl } from './urls';

/** Is the answer right, given the reference? Partially right is wrong. */
export type Judge = (question: string, reference: string, answer: string, kind: Question['kind']) => Promise<boolean>;

export interface Outcome {
  /** What the agent said when it stopped; empty when it was stopped. */
  readonly answer: string;
  /** Where it stood at the end, with the real address (no masks, no placeholders left in the references). */
  readonly url: string;
  /** The page at an address in the final state, or null where it cannot be had (a site that is not built in). */
  page(url: string): VElement | null;
  /** Runs a named helper of the task files, `name(args)`, on the page at `url`; null where it is unknown. */
  helper(call: string, url: string): string | null;
}

export interface Evaluation {
  /** 1 or 0; null while `needs-judge` or `needs-live-site` remain and nothing failed. */
  readonly score: 0 | 1 | null;
  readonly verdict: Verdict;
  readonly profile: Profile;
  readonly components: readonly Component[];
}

/** One failed condition decides, whatever is still open: the score is a product. */
export function combine(components: readonly Component[], profile: Profile): Evaluation {
  const has = (verdict: Verdict): boolean => components.some((component) => component.verdict === verdict);
  const verdict: Verdict =
    has('fail') || components.length === 0
      ? 'fail'
      : has('needs-live-site')
        ? 'needs-live-site'
        : has('needs-judge')
          ? 'needs-judge'
          : 'pass';
  return { score: verdict === 'pass' ? 1 : verdict === 'fail' ? 0 : null, verdict, profile, components };
}

export function evaluateNow(task: WebArenaTask, outcome: Outcome, profile: Profile): Evaluation {
  const components: Component[] = [];
  const { eval: rules } = task;
  for (const kind of rules.eval_types) {
    if (kind === 'string_match') {
      const answers = {
        intent: task.intent,
        reference_answers: rules.reference_answers,
        string_note: rules.string_note,
      };
      components.push(...checkAnswer(answers, outcome.answer, profile));
    } else if (kind === 'url_match') {
      components.push(...checkUrl(rules.reference_url, rules.url_note || 'GOLD in PRED', outcome.url, 'url_match'));
    } else if (kind === 'url_exact') {
      components.push(...checkUrl(rules.reference_url, rules.url_note || 'EXACT', outcome.url, 'url_exact'));
    } else if (kind === 'program_html') components.push(...checkPages(task, outcome, profile));
    else
      components.push({
        evaluator: 'program_html',
        rule: kind,
        expected: '',
        found: '',
        verdict: 'fail',
        note: `unknown evaluator "${kind}"`,
      });
  }
  return combine(components, profile);
}

/** program_html: go to each target's page, take what its locator finds, and compare. */
function checkPages(task: WebArenaTask, outcome: Outcome, profile: Profile): Component[] {
  const components: Component[] = [];
  for (const target of task.eval.program_html) {
    const where = target.locator.trim() === '' ? `page ${target.url}` : `${target.locator} on ${target.url}`;
    const open = (note: string): void => {
      const expected = JSON.stringify(target.required_contents);
      components.push({
        evaluator: 'program_html',
        rule: where,
        expected,
        found: '',
        verdict: 'needs-live-site',
        note,
      });
    };
    if (target.prep_actions !== undefined) {
      open('scripts must run on the page first; only a browser can run them');
      continue;
    }
    let url: string | null = target.url === 'last' ? outcome.url : target.url;
    if (url.startsWith('func:'))
      url = outcome.helper(url.slice(5).replaceAll('__last_url__', outcome.url), outcome.url);
    if (url === null) {
      open('the address comes from a helper that only the real site has');
      continue;
    }
    let found: string | null = null;
    if (target.locator.startsWith('func:')) {
      found = outcome.helper(target.locator.slice(5), url);
      if (found === null) open('the locator is a helper that only the real site has');
    } else {
      const body = outcome.page(url);
      if (body === null) open('the page is not one of the built-in sites');
      else if (target.locator.trim() === '') found = textOf(body);
      else {
        const located = locate(body, target.locator);
        if (located === 'unsupported') open('the locator is a script; only a browser can run it');
        else found = located.text;
      }
    }
    if (found !== null) components.push(...contents(target.required_contents, found, where, task.intent, profile));
  }
  return components;
}

function contents(
  required: Readonly<Record<string, string | readonly string[]>>,
  found: string,
  where: string,
  intent: string,
  profile: Profile,
): Component[] {
  const components: Component[] = [];
  const short = found.length > 500 ? `${found.slice(0, 500)}…` : found;
  const add = (rule: string, expected: string, verdict: Verdict, ask?: Question): void => {
    components.push({
      evaluator: 'program_html',
      rule: `${rule}: ${where}`,
      expected,
      found: short,
      verdict,
      ...(ask === undefined ? {} : { ask }),
    });
  };
  for (const [rule, value] of Object.entries(required)) {
    const references = typeof value === 'string' ? [value] : value;
    for (const reference of references) {
      // `|OR|` is allowed in page contents by both profiles.
      const any = (test: (phrase: string) => boolean): Verdict =>
        reference.split(' |OR| ').some(test) ? 'pass' : 'fail';
      if (rule === 'exact_match')
        add(
          rule,
          reference,
          any((phrase) => exactMatch(phrase, found, profile)),
        );
      else if (rule === 'must_include')
        add(
          rule,
          reference,
          any((phrase) => includes(phrase, found, profile, false)),
        );
      else if (rule === 'must_exclude')
        add(rule, reference, includes(reference, found, profile, true) ? 'fail' : 'pass');
      else if (rule === 'fuzzy_match')
        add(rule, reference, 'needs-judge', { kind: 'same-meaning', question: intent, reference, answer: found });
      else add(rule, reference, 'fail');
    }
  }
  if (components.length === 0) add('none', '', 'fail');
  return components;
}

/** The final score where a judge is at hand. A judge that throws leaves the question open; it never passes. */
export async function evaluate(
  task: WebArenaTask,
  outcome: Outcome,
  profile: Profile,
  judge?: Judge,
): Promise<Evaluation> {
  const first = evaluateNow(task, outcome, profile);
  if (judge === undefined || first.verdict === 'fail') return first;
  const components: Component[] = [];
  for (const component of first.components) {
    if (component.verdict !== 'needs-judge' || component.ask === undefined) {
      components.push(component);
      continue;
    }
    const { question, reference, answer, kind } = component.ask;
    try {
      const passed = await judge(question, reference, answer, kind);
      components.push({ ...component, verdict: passed === true ? 'pass' : 'fail', note: 'decided by the judge' });
    } catch (error) {
      components.push({
        ...component,
        note: `the judge failed: ${error instanceof Error ? error.message : 'unknown'}`,
      });
    }
  }
  return combine(components, profile);
}
