/**
 * @file A browser over the built-in sites: tabs, history, forms, scrolling. No network, no script, no clock.
 *
 * All of its state is one immutable value (`BrowserState`): a snapshot is a reference to it. Pages are computed from
 * (site state, address) when they are looked at, and kept while both stay the same.
 */
import { lastWindow } from './abstract';
import { type AxNode, accessibilityNodes, isChecked, type Numbered, numberNodes, optionValue } from './accessibility';
import type { Action } from './actions';
import { fieldsOfForm, sentForm } from './forms';
import { fetchPage, load } from './load';
import { inlineText, type VElement } from './nodes';
import { href, type Page, parseAddress, requestOf, resolve, type Site, type SitesState } from './site';
import {
  type BrowserState,
  closeTab,
  currentTab,
  MAX_TABS,
  openTab,
  shownAt,
  type Tab,
  visited,
  withTab,
} from './tabs';

/** A page as the current tab shows it, with what was typed into it. */
export interface View {
  readonly url: string;
  readonly page: Page;
  readonly nodes: readonly Numbered[];
  readonly accessibility: readonly AxNode[];
  readonly tab: Tab;
}

export type Performed = { readonly ok: true } | { readonly ok: false; readonly reason: string };

const OK: Performed = { ok: true };
const no = (reason: string): Performed => ({ ok: false, reason });
const MAX_TEXT = 4000;

export class Browser {
  private shown: View | null = null;
  private computed: { sites: SitesState; url: string; page: Page; nodes: Numbered[] } | null = null;

  constructor(
    private readonly sites: ReadonlyMap<string, Site>,
    private held: BrowserState,
  ) {}

  get state(): BrowserState {
    return this.held;
  }

  set state(state: BrowserState) {
    this.held = state;
    this.shown = null;
  }

  get url(): string {
    const tab = currentTab(this.held);
    return tab.history[tab.at];
  }

  view(): View {
    if (this.shown !== null) return this.shown;
    const tab = currentTab(this.held);
    const { page, nodes } = this.pageOf(this.url);
    const accessibility = accessibilityNodes(page.title, nodes, tab.fields, tab.focus);
    this.shown = { url: this.url, page, nodes, accessibility, tab };
    return this.shown;
  }

  private pageOf(url: string): { page: Page; nodes: Numbered[] } {
    const kept = this.computed;
    if (kept !== null && kept.url === url && kept.sites === this.held.sites) return kept;
    const page = fetchPage(this.sites, this.held.sites, url);
    this.computed = { sites: this.held.sites, url, page, nodes: numberNodes(page.body) };
    return this.computed;
  }

  /** Titles of all tabs, for the first line of the observation. */
  titles(): string[] {
    return this.held.tabs.map((tab, index) =>
      index === this.held.current
        ? this.view().page.title
        : fetchPage(this.sites, this.held.sites, tab.history[tab.at]).title,
    );
  }

  perform(action: Exclude<Action, { kind: 'stop' }>): Performed {
    switch (action.kind) {
      case 'click':
        return this.click(action.id);
      case 'hover':
        return this.element(action.id) === null ? no(`no element [${action.id}]`) : OK;
      case 'type':
        return this.type(action.id, action.text, action.enter);
      case 'select':
        return this.choose(action.id, action.option);
      case 'press':
        return this.press(action.keys);
      case 'scroll': {
        const { scroll } = this.view().tab;
        this.setTab({
          scroll: action.direction === 'up' ? Math.max(0, scroll - 1) : Math.min(lastWindow(this.view()), scroll + 1),
        });
        return OK;
      }
      case 'goto': {
        const url = /^https?:\/\//i.test(action.url) ? action.url : `http://${action.url}`;
        return this.visit(url.trim());
      }
      case 'new_tab':
        if (this.held.tabs.length >= MAX_TABS) return no('too many tabs');
        this.state = openTab(this.held);
        return OK;
      case 'tab_focus':
        if (action.tab >= this.held.tabs.length) return no(`no tab ${action.tab}`);
        this.state = { ...this.held, current: action.tab };
        return OK;
      case 'close_tab':
        this.state = closeTab(this.held);
        return OK;
      case 'go_back':
        return this.travel(-1);
      case 'go_forward':
        return this.travel(1);
      case 'wait':
        return OK;
    }
  }

  private setTab(change: Partial<Tab>): void {
    this.state = withTab(this.held, change);
  }

  private travel(by: number): Performed {
    const tab = currentTab(this.held);
    const at = tab.at + by;
    if (at < 0 || at >= tab.history.length)
      return no(by < 0 ? 'there is no page before this one' : 'there is no page after this one');
    this.setTab(shownAt(at));
    return OK;
  }

  private visit(url: string): Performed {
    const tab = currentTab(this.held);
    const loaded = load(this.sites, this.held.sites, url);
    if (loaded === null) return no(`${url} is not an address of this world`);
    this.setTab(visited(tab, loaded.url));
    this.computed = {
      sites: this.held.sites,
      url: loaded.url,
      page: loaded.page,
      nodes: numberNodes(loaded.page.body),
    };
    return OK;
  }

  /** The element with this id if the agent can see it. */
  private element(id: number): VElement | null {
    const node = this.view().nodes[id - 2]?.node;
    return node === undefined || typeof node === 'string' || node.attributes.type === 'hidden' ? null : node;
  }

  private click(id: number): Performed {
    const numbered = this.view().nodes[id - 2];
    if (numbered === undefined) return id === 1 ? OK : no(`no element [${id}]`);
    // A text is part of the element around it.
    for (let at = numbered; at !== undefined; at = this.view().nodes[at.parent - 2]) {
      if (typeof at.node === 'string') continue;
      const acted = this.activate(at.node, at.id);
      if (acted !== null) return acted;
    }
    return OK;
  }

  /** What a click on this very element does; null when it does nothing and the element around it is asked. */
  private activate(element: VElement, id: number): Performed | null {
    const { tag, attributes } = element;
    if (attributes.type === 'hidden') return no(`no element [${id}]`);
    if (attributes.disabled !== undefined) return no('the element is disabled');
    if (tag === 'a' && attributes.href !== undefined) return this.visit(resolve(this.url, attributes.href));
    if (tag === 'option') {
      const select = this.view().nodes[this.view().nodes[id - 2].parent - 2];
      return this.choose(select.id, optionValue(element));
    }
    if (tag === 'label' && attributes.for !== undefined) {
      const target = this.view().nodes.find(
        ({ node }) => typeof node !== 'string' && node.attributes.id === attributes.for,
      );
      return target === undefined || typeof target.node === 'string' ? OK : this.activate(target.node, target.id);
    }
    if (tag === 'button') return attributes.type === 'button' ? OK : this.submit(id);
    if (tag === 'input') {
      if (attributes.type === 'submit') return this.submit(id);
      const { fields } = this.view().tab;
      if (attributes.type === 'checkbox') this.setField(id, String(!isChecked(element, id, fields)));
      else if (attributes.type === 'radio') {
        const changed = new Map(fields);
        for (const other of fieldsOfForm(this.view().nodes, id))
          if (other.element.attributes.type === 'radio' && other.element.attributes.name === attributes.name)
            changed.set(other.id, String(other.id === id));
        this.setTab({ fields: changed, focus: id });
      } else this.setTab({ focus: id });
      return OK;
    }
    if (tag === 'textarea' || tag === 'select') {
      this.setTab({ focus: id });
      return OK;
    }
    return null;
  }

  private setField(id: number, value: string): void {
    this.setTab({ fields: new Map(this.view().tab.fields).set(id, value), focus: id });
  }

  /** Replaces the content of a text field (as WebArena-Lite does), or chooses an option of a select. */
  private type(id: number, text: string, enter: boolean): Performed {
    const element = this.element(id);
    if (element === null) return no(`no element [${id}]`);
    if (element.tag === 'select') return this.choose(id, text);
    const { type } = element.attributes;
    const takesText =
      element.tag === 'textarea' || (element.tag === 'input' && !/^(submit|checkbox|radio|button)$/.test(type ?? ''));
    if (!takesText) return no('the element takes no text');
    this.setField(id, text.slice(0, MAX_TEXT));
    return enter && element.tag === 'input' ? this.submit(id) : OK;
  }

  private choose(id: number, wanted: string): Performed {
    const element = this.element(id);
    if (element === null) return no(`no element [${id}]`);
    if (element.tag !== 'select') return no('the element has no options');
    const options = element.children.filter((child): child is VElement => typeof child !== 'string');
    const low = wanted.trim().toLowerCase();
    const option =
      options.find((candidate) => optionValue(candidate) === wanted) ??
      options.find((candidate) => inlineText(candidate).toLowerCase() === low);
    if (option === undefined) return no(`there is no option "${wanted}"`);
    this.setField(id, optionValue(option));
    return element.attributes['data-submit'] === undefined ? OK : this.submit(id);
  }

  private press(keys: string): Performed {
    const { focus } = this.view().tab;
    if (!/^(enter|return)$/i.test(keys.trim())) return OK;
    if (focus === 0) return OK;
    const element = this.element(focus);
    if (element === null || element.tag === 'textarea') return OK;
    return element.tag === 'input' ? this.submit(focus) : (this.activate(element, focus) ?? OK);
  }

  /** Sends the form around `id`; a submit button's own name and value go along. */
  private submit(id: number): Performed {
    const sent = sentForm(this.view(), id);
    if (sent === null) return OK;
    if ('lacking' in sent) {
      // As a browser does: the form stays, and the field that lacks its content gets the focus.
      this.setTab({ focus: sent.lacking });
      return OK;
    }
    const action = resolve(this.url, sent.form.attributes.action ?? this.url);
    if ((sent.form.attributes.method ?? 'get').toLowerCase() !== 'post')
      return this.visit(href(action.split('?')[0], sent.values));
    const address = parseAddress(action);
    const site = address === null ? undefined : this.sites.get(address.host);
    if (address === null || site === undefined) return no(`${action} is not an address of this world`);
    const answer = site.handle(this.held.sites, requestOf(address, 'POST', sent.values));
    this.state = { ...this.held, sites: answer.state };
    return this.visit(resolve(action, answer.redirect ?? action));
  }
}
