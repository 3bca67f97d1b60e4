/**
 * @file What a text experience model must be told about the shop, and what the shop's rules can prove about its text.
 *
 * Plain strings and functions over abstract text, in the form that dream/text-models/world.ts asks for; no catalogue is
 * consulted, so the checks hold for imagined shops too.
 */
import type { Turn } from '../../data/trajectory';
import type { Task } from '../environment';
import { UNCHANGED } from './abstract';
import { type AbstractPage, asinOf, chosenValues, lowestPrice, offers, readPage, textOf } from './abstract-reader';
import { NO_CAP, type ShopGoal } from './goals';
import { titleNouns } from './nouns';
import { countOptionMatches } from './reward';
import { parseAction } from './session';
import { shopData } from './tasks';

export const description = [
  'An online shop. The instruction says what to buy: a kind of product, its qualities, options such as colour or size, and a highest price.',
  'Actions: search[keywords] shows products that match the keywords, on any page; click[element] presses an element that the last page shows by the name in its brackets.',
  'Clicking a product opens its item page; clicking an option chooses it, and the newest choice of an option counts; description, features and reviews show more text and < prev returns; next > and < prev turn the pages of results; back to search begins again and forgets all choices; buy now buys the item and ends the episode.',
  'A purchase succeeds only when the product is of the wanted kind, has every wanted quality, costs no more than the limit, and every wanted option is chosen before buy now. Anything else that is bought is a failure, and the episode ends all the same.',
  'An action that is not offered changes nothing.',
].join(' ');

export const observationForm = [
  'One element a line, `[element] type: description`; the first line says which page it is.',
  'Results:',
  '[page] results: page 1, 50 found for leak proof water bottle',
  '[back to search] button: new search',
  '[next >] button: more results',
  '[B01XCD8EYV] product: Velora Leak Proof Water Bottle for Hiking, $18.99',
  'Item:',
  '[page] item: B01XCD8EYV',
  '[back to search] button: new search',
  '[< prev] button: results',
  '[title] text: Velora Leak Proof Water Bottle for Hiking',
  '[price] text: $18.99',
  '[teal] option: color, chosen',
  '[black] option: color',
  '[description] button: text',
  '[features] button: list',
  '[reviews] button: list',
  '[buy now] button: buy this item',
  'After buying: [page] done: bought B01XCD8EYV, color teal',
  `When nothing changes: ${UNCHANGED}`,
].join('\n');

export const failureObservation = UNCHANGED;

/** Buying the wrong thing ends an episode. */
export const endsInFailure = true;

export const isObservation = (text: string): boolean => readPage(text) !== null;

type Seen = Pick<Turn, 'action' | 'observation'>;

function goalOf(task: Task): ShopGoal | null {
  try {
    return shopData(task).goal;
  } catch {
    return null;
  }
}

/** The cap that the sentence itself names, for tasks that carry no goal. */
export function priceCapOf(instruction: string): number {
  const found = /price (?:lower|less) than \$?(\d+(?:\.\d+)?)/i.exec(instruction);
  return found === null ? NO_CAP : Number(found[1]);
}

/**
 * Does the transcript show that the purchase in its last turn is the wanted one? false when it shows otherwise, null when
 * a quality was never mentioned or the task carries no goal to compare with.
 */
export function supportsSuccess(task: Task, firstObservation: string, turns: readonly Seen[]): boolean | null {
  const last = turns.at(-1);
  const bought = last === undefined ? null : readPage(last.observation);
  if (last === undefined || bought?.page !== 'done') return false;
  const action = parseAction(last.action);
  if (action?.kind !== 'click' || action.argument !== 'buy now') return false;
  const pages = [firstObservation, ...turns.map(({ observation }) => observation)].map(readPage);
  const item = pages.findLast((page) => page?.page === 'item');
  const asin = asinOf(bought);
  if (!item || asin === null || asinOf(item) !== asin) return false;
  const goal = goalOf(task);
  const cost = lowestPrice(textOf(item, 'price'));
  if (cost !== null && cost > (goal?.priceUpper ?? priceCapOf(task.instruction))) return false;
  if (goal === null) return null;
  if (countOptionMatches(chosenValues(item), goal.options) < goal.options.length) return false;
  const title = textOf(item, 'title') ?? '';
  const wanted = titleNouns(goal.name);
  if (title !== '' && wanted.length > 0 && !titleNouns(title).some((noun) => wanted.includes(noun))) return false;
  const text = `${title} ${shownTexts(pages, asin)}`.toLowerCase();
  if (goal.attributes.every((attribute) => text.includes(attribute))) return true;
  // The features list is where a quality would stand; a quality worded otherwise still counts, so no proof against it.
  return null;
}

/** All texts of an item's sub pages. */
const shownTexts = (pages: readonly (AbstractPage | null)[], asin: string): string =>
  pages
    .filter((page) => page !== null && page.page !== 'item' && asinOf(page) === asin)
    .flatMap((page) => page?.elements.filter(({ type }) => type === 'text').map(({ text }) => text) ?? [])
    .join(' ');

/** The page that was in view before the last turn: unchanged ones are looked through. */
export function pageInView(firstObservation: string, turns: readonly Seen[]): AbstractPage | null {
  for (let i = turns.length - 1; i >= 0; i--) {
    const page = readPage(turns[i].observation);
    if (page !== null && page.page !== 'unchanged') return page;
  }
  return readPage(firstObservation);
}

/** What a page lets an agent do, sorted, as the shop itself lists it: presses, and a search with any keywords. */
export const offeredActions = (page: AbstractPage): string[] =>
  [...[...offers(page).keys()].map((name) => `click[${name}]`), 'search[<query>]'].sort();

/** Does the last turn answer with a page that the one before cannot lead to, or tell the same item differently? */
export function contradicts(firstObservation: string, turns: readonly Seen[]): boolean {
  const last = turns.at(-1);
  if (last === undefined) return false;
  const after = readPage(last.observation);
  const before = pageInView(firstObservation, turns.slice(0, -1));
  if (after === null) return true;
  if (before === null) return false;
  const earlier = [firstObservation, ...turns.slice(0, -1).map(({ observation }) => observation)]
    .map(readPage)
    .filter((page) => page !== null);
  return !canFollow(before, last.action, after) || tellsOtherwise(earlier, after);
}

function canFollow(before: AbstractPage, action: string, after: AbstractPage): boolean {
  const parsed = parseAction(action);
  const offered = parsed?.kind === 'click' ? offers(before).get(parsed.argument) : undefined;
  const possible = before.page !== 'done' && (parsed?.kind === 'search' || offered !== undefined);
  if (!possible) return after.page === 'unchanged';
  if (parsed?.kind === 'search') return after.page === 'results' && pageNumber(after) <= 1;
  const same = asinOf(after) === asinOf(before);
  if (offered?.type === 'product') return after.page === 'item' && asinOf(after) === offered.name;
  if (offered?.type === 'option') {
    return (
      after.page === 'item' && same && chosenValues(after).some((value) => value.toLowerCase() === parsed?.argument)
    );
  }
  switch (parsed?.argument) {
    case 'back to search':
      return after.page === 'search';
    case 'next >':
      return after.page === 'results' && pageNumber(after) === pageNumber(before) + 1;
    case '< prev':
      if (before.page === 'results') return after.page === 'results' && pageNumber(after) === pageNumber(before) - 1;
      return before.page === 'item' ? after.page === 'results' : after.page === 'item' && same;
    case 'buy now':
      return after.page === 'done' && same;
    default:
      return after.page === parsed?.argument && same;
  }
}

const pageNumber = ({ page, detail }: AbstractPage): number =>
  page === 'results' ? Number(/^page (\d+)/.exec(detail)?.[1] ?? 1) : 0;

/** The same item under another title or price; the same page of the same query with other products. */
function tellsOtherwise(earlier: readonly AbstractPage[], after: AbstractPage): boolean {
  const known = listings(earlier);
  for (const [asin, listing] of listings([after])) {
    const before = known.get(asin);
    if (before !== undefined && before !== listing) return true;
  }
  if (after.page !== 'results') return false;
  const products = (page: AbstractPage) =>
    page.elements
      .filter(({ type }) => type === 'product')
      .map(({ name }) => name)
      .join(' ');
  return earlier.some(
    (page) => page.page === 'results' && page.detail === after.detail && products(page) !== products(after),
  );
}

/** ASIN -> `title, price`, wherever pages tell both. */
function listings(pages: readonly AbstractPage[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const page of pages) {
    for (const { name, type, text } of page.elements) if (type === 'product' && text !== '') found.set(name, text);
    const title = textOf(page, 'title');
    const price = textOf(page, 'price');
    if (page.page === 'item' && title !== null && price !== null) found.set(page.detail, `${title}, ${price}`);
  }
  return found;
}

/** The answer to an action that the page in view does not offer; null where it does. */
export function refusal(
  _task: Task,
  firstObservation: string,
  turns: readonly Seen[],
  action: string,
): { reasoning: string; observation: string } | null {
  const view = pageInView(firstObservation, turns);
  if (view === null) return null;
  const parsed = parseAction(action);
  if (view.page !== 'done' && parsed?.kind === 'search') return null;
  if (view.page !== 'done' && parsed?.kind === 'click' && offers(view).has(parsed.argument)) return null;
  const reasoning =
    parsed === null
      ? 'The action is neither search[...] nor click[...], so nothing changes.'
      : `The ${view.page} page does not offer ${parsed.argument}, so nothing changes.`;
  return { reasoning, observation: UNCHANGED };
}

/**
 * What an annotator who knows the rules says of a transition: the reasoning that experience models are trained on
 * (DreamGym, appendix C). `scored` is what the purchase missed, where one was made.
 */
export function explain(before: string, action: string, observation: string, missed: readonly string[] | null): string {
  const after = readPage(observation);
  const view = readPage(before);
  const parsed = parseAction(action);
  if (after === null || after.page === 'unchanged' || parsed === null) {
    const page = view === null || view.page === 'unchanged' ? 'current' : view.page;
    return `The ${page} page does not offer this action, so nothing changes.`;
  }
  if (parsed.kind === 'search') return `The agent searches, so the results for ${parsed.argument} follow.`;
  switch (after.page) {
    case 'done':
      return missed === null || missed.length === 0
        ? 'The agent buys an item that meets the whole instruction: success.'
        : `The agent buys an item that misses ${missed.join(', ')}: no success.`;
    case 'item':
      if (view !== null && offers(view).get(parsed.argument)?.type === 'option') {
        return `The agent chooses ${parsed.argument}, so the same item is shown with it chosen.`;
      }
      return parsed.argument === '< prev'
        ? `The agent leaves the ${view?.page ?? 'sub'} page, so the item is shown again with its choices.`
        : `The agent opens ${after.detail}, so its item page follows.`;
    case 'results':
      return parsed.argument === 'next >'
        ? 'The agent turns the page, so the next results follow.'
        : 'The agent goes back, so the results are shown again and choices are forgotten.';
    case 'search':
      return 'The agent goes back to search, so the search page follows and choices are forgotten.';
    default:
      return `The agent opens the ${after.page}, so the item's text follows.`;
  }
}
