/**
 * @file A page as the list of its visible texts in document order (WebShop's templates), and three ways to write it down:
 * `text` (joined by [SEP]), `text_rich` (buttons marked) and `react` (the bracket dialect of ReAct's prompts).
 */
import { priceTag, pythonFloat } from './product';
import { buttonsOf, type Scene } from './session';

export type ObservationMode = 'text' | 'text_rich' | 'react';
export const OBSERVATION_MODES: readonly ObservationMode[] = ['text', 'text_rich', 'react'];

interface Node {
  kind: 'text' | 'button' | 'option-name' | 'option' | 'product' | 'product-text';
  text: string;
  /** An option that is chosen, a product that was opened. */
  clicked?: boolean;
}

export interface PageContext {
  instruction: string;
  showAttributes: boolean;
  /** The score of the purchase, on the last page only. */
  score: number | null;
}

const text = (content: string): Node => ({ kind: 'text', text: content });
const button = (label: string): Node => ({ kind: 'button', text: label });

/** ReAct shows the first three products of a page. */
const REACT_PRODUCTS = 3;

function nodesOf(scene: Scene, context: PageContext): Node[] {
  const { state, hits, shown, product } = scene;
  const head = [text('Instruction:'), text(context.instruction)];
  const buttons = buttonsOf(scene, context.showAttributes).map(button);
  switch (state.page) {
    case 'index':
      return [text('WebShop'), ...head, ...buttons];
    case 'results':
      return [
        ...head,
        buttons[0],
        text(`Page ${state.pageNumber} (Total results: ${hits.length})`),
        ...buttons.slice(1),
        ...shown.flatMap((hit): Node[] => [
          { kind: 'product', text: hit.asin, clicked: state.visited.includes(hit.asin) },
          { kind: 'product-text', text: hit.name },
          { kind: 'product-text', text: priceTag(hit) },
        ]),
      ];
    case 'item': {
      if (product === null) return head;
      const chosen = new Map(state.options);
      return [
        ...head,
        ...buttons.slice(0, 2),
        ...product.options.flatMap(({ name, values }): Node[] => [
          { kind: 'option-name', text: name },
          ...values.map((value): Node => ({ kind: 'option', text: value, clicked: chosen.get(name) === value })),
        ]),
        text(product.name),
        text(`Price: ${priceTag(product)}`),
        text('Rating: N.A.'),
        ...buttons.slice(2),
      ];
    }
    case 'sub':
      return [...head, ...buttons, ...subPageTexts(scene).map(text)];
    case 'done':
      return [
        text('Thank you for shopping with us!'),
        text('Your code:'),
        text('None'),
        text('Your score (min 0.0, max 1.0)'),
        text(pythonFloat(context.score ?? 0)),
      ];
  }
}

/** The texts of a sub page; none for reviews, which neither catalogue has. */
export function subPageTexts({ state, product }: Scene): readonly string[] {
  if (product === null) return [];
  switch (state.subPage) {
    case 'Description':
      return product.description === '' ? [] : [product.description];
    case 'Features':
      return product.bullets;
    case 'Attributes':
      return product.attributes;
    default:
      return [];
  }
}

const asText = (nodes: readonly Node[]): string => nodes.map((node) => node.text.trim()).join(' [SEP] ');

function asRichText(nodes: readonly Node[]): string {
  let page = '';
  for (const node of nodes) {
    const mark = node.clicked ? 'clicked button' : 'button';
    const marked = `[${mark}] ${node.text} [${mark}_]`;
    if (node.kind === 'button') page += `${marked}\n`;
    else if (node.kind === 'product') page += `\n${marked}\n`;
    else if (node.kind === 'option')
      page = `${node.clicked ? `You have clicked ${node.text}.\n` : ''}${page}  ${marked}\n`;
    else page += `${node.text}\n`;
  }
  return page;
}

function asReact(nodes: readonly Node[], isIndex: boolean): string {
  let page = '';
  let products = 0;
  // The instruction is part of the prompt; only the first page repeats it.
  for (const node of isIndex ? nodes : nodes.filter((_, i) => i > 1)) {
    if (node.kind === 'product') products++;
    if (products > REACT_PRODUCTS) continue;
    if (node.kind === 'option') page += node.clicked ? `[[${node.text}]]` : `[${node.text}]`;
    else if (node.kind === 'option-name') page += `\n${node.text} `;
    else if (node.kind === 'button' || node.kind === 'product') page += `\n[${node.text}] `;
    else page += `\n${node.text} `;
  }
  return page;
}

export function renderPage(mode: ObservationMode, scene: Scene, context: PageContext): string {
  if (mode === 'react' && scene.state.page === 'done') {
    return `Your score (min 0.0, max 1.0): ${pythonFloat(context.score ?? 0)}`;
  }
  const nodes = nodesOf(scene, context);
  switch (mode) {
    case 'text':
      return asText(nodes);
    case 'text_rich':
      return asRichText(nodes);
    case 'react':
      return asReact(nodes, scene.state.page === 'index');
  }
}
