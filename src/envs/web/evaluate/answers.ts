/**
 * @file string_match: does the agent's answer say what the task asks for?
 *
 * Two rule sets. `webarena` is web-arena-x/webarena evaluation_harness/evaluators.py; `lite` is THUDM/VisualAgentBench
 * VAB-WebArena-Lite/new/evaluators.py: word-wise must_include, `|OR|` in answers, must_exclude, one_of,
 * required_values, fuzzy references joined and asked once.
 */

export type Profile = 'webarena' | 'lite';

/** `needs-judge`: a person or a model must read the question. `needs-live-site`: only the real page can tell. */
export type Verdict = 'pass' | 'fail' | 'needs-judge' | 'needs-live-site';

export interface Question {
  /** `same-meaning`: is the answer right, given the reference? `same-reason`: does it give the same reason why it is impossible? */
  readonly kind: 'same-meaning' | 'same-reason';
  readonly question: string;
  readonly reference: string;
  readonly answer: string;
}

/** One condition of an evaluator, with what it compared: shown to people, who may disagree. */
export interface Component {
  readonly evaluator: 'string_match' | 'url_match' | 'url_exact' | 'program_html';
  readonly rule: string;
  readonly expected: string;
  readonly found: string;
  readonly verdict: Verdict;
  /** Set when the verdict is `needs-judge`. */
  readonly ask?: Question;
  /** Why, where the verdict alone does not say it. */
  readonly note?: string;
}

export type ReferenceAnswers = Readonly<Record<string, string | readonly string[]>>;

/** Strip, drop one pair of quotes around it, lower-case. The Lite profile's upstream does not strip. */
export function cleanAnswer(text: string, profile: Profile = 'webarena'): string {
  let answer = profile === 'webarena' ? text.trim() : text;
  for (const quote of ["'", '"']) {
    if (answer.startsWith(quote) && answer.endsWith(quote) && answer.length > 1) {
      answer = answer.slice(1, -1);
      break;
    }
  }
  return answer.toLowerCase();
}

/**
 * Words and marks as NLTK's word_tokenize (Penn Treebank rules) splits them: brackets, quotes and `$ % & # @ ; ? !` stand
 * alone, `,` and `:` do unless a digit follows, a full stop only at the end of a sentence. Hyphens, slashes and inner
 * full stops stay inside (`green-vines`, `5/2/23`, `a11yproject.com`, `9.99`).
 */
export function wordTokens(text: string): string[] {
  return ` ${text} `
    .replace(/\.{2,}/g, ' $& ')
    .replace(/[:,](?=\D)/g, ' $& ')
    .replace(/[;@#$%&?!"“”‘’«»…[\](){}<>]|--/g, ' $& ')
    .replace(/([^.\s])\.(?=[\])}>"'»”’]*\s)/g, '$1 . ')
    .replace(/([^'\s])'(?=\s)/g, "$1 ' ")
    .replace(/([^'\s])('(?:s|m|d|ll|re|ve)|n't)(?=\s)/gi, '$1 $2')
    .split(/\s+/)
    .filter((token) => token !== '');
}

export const exactMatch = (reference: string, answer: string, profile: Profile): boolean =>
  cleanAnswer(answer, profile) === cleanAnswer(reference, profile);

/** `alone`: the reference is the only one of its list, which WebArena takes as a sign that it must be a token. */
export function includes(reference: string, answer: string, profile: Profile, alone: boolean): boolean {
  const phrase = cleanAnswer(reference, profile);
  const text = cleanAnswer(answer, profile);
  const asToken = profile === 'lite' ? wordTokens(phrase).length === 1 : alone && [...phrase].length === 1;
  return asToken ? wordTokens(text).includes(phrase) : text.includes(phrase);
}

const alternatives = (reference: string, profile: Profile): string[] =>
  profile === 'lite' ? reference.split(' |OR| ') : [reference];

/** `>= 3`, `< 10`, `== 5`, `!= 2`; a bare number is equality. null when it is neither. */
function holds(value: number, condition: string): boolean | null {
  const match = /^\s*(<=|>=|==|!=|<|>|=)?\s*(-?[\d.,]+)\s*$/.exec(condition);
  if (match === null) return null;
  const bound = Number(match[2].replaceAll(',', ''));
  switch (match[1]) {
    case '<=':
      return value <= bound;
    case '>=':
      return value >= bound;
    case '<':
      return value < bound;
    case '>':
      return value > bound;
    case '!=':
      return value !== bound;
    default:
      return value === bound;
  }
}

/** The whole number an answer is, with thousands separators; null when it is more than a number. */
function numberOf(answer: string): number | null {
  const text = answer.trim().replaceAll(',', '');
  return /^[-+]?\d+(\.\d+)?$/.test(text) ? Number(text) : null;
}

const listOf = (value: string | readonly string[]): readonly string[] => (typeof value === 'string' ? [value] : value);

export interface AnswerTask {
  readonly intent: string;
  readonly reference_answers: ReferenceAnswers;
  readonly string_note: string;
}

/** Every condition of `task` on `answer`. Nothing here waits: what needs a judge says so. */
export function checkAnswer(task: AnswerTask, answer: string, profile: Profile): Component[] {
  const components: Component[] = [];
  const add = (rule: string, expected: string, verdict: boolean | Question, note?: string): void => {
    components.push({
      evaluator: 'string_match',
      rule,
      expected,
      found: answer,
      verdict: typeof verdict === 'object' ? 'needs-judge' : verdict ? 'pass' : 'fail',
      ...(typeof verdict === 'object' ? { ask: verdict } : {}),
      ...(note === undefined ? {} : { note }),
    });
  };
  const ask = (kind: Question['kind'], reference: string): Question => ({
    kind,
    question: task.intent,
    reference,
    answer,
  });
  for (const [rule, value] of Object.entries(task.reference_answers)) {
    const references = listOf(value);
    switch (rule) {
      case 'exact_match':
        for (const reference of references) add(rule, reference, exactMatch(reference, answer, profile));
        break;
      case 'must_include':
        for (const reference of references) {
          const said = alternatives(reference, profile).some((phrase) =>
            includes(phrase, answer, profile, references.length === 1),
          );
          add(rule, reference, said);
        }
        break;
      case 'must_exclude':
        for (const reference of references) add(rule, reference, !includes(reference, answer, profile, true));
        break;
      case 'one_of':
        add(
          rule,
          references.join(' | '),
          references.some((reference) => includes(reference, answer, profile, true)),
        );
        break;
      case 'required_values': {
        const number = numberOf(answer);
        for (const reference of references) {
          const fits =
            number !== null && alternatives(reference, profile).some((condition) => holds(number, condition) === true);
          add(rule, reference, fits, number === null ? 'the answer is not a number' : undefined);
        }
        break;
      }
      case 'fuzzy_match':
        if (value === 'N/A') {
          // Saying N/A is enough; giving another reason in words may be right too, which only a reader can tell.
          if (exactMatch('N/A', answer, profile)) add(rule, 'N/A', true);
          else add(rule, 'N/A', ask('same-reason', task.string_note));
        } else if (profile === 'lite') add(rule, references.join(', '), ask('same-meaning', references.join(', ')));
        else for (const reference of references) add(rule, reference, ask('same-meaning', reference));
        break;
      default:
        // An unknown rule must not pass in silence.
        add(rule, references.join(', '), false, `unknown rule "${rule}"`);
    }
  }
  if (components.length === 0) add('none', '', false, 'the task names no reference answer');
  return components;
}
