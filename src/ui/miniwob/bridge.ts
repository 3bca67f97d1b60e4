/**
 * @file What runs inside the frame beside a MiniWoB page: starts episodes, lists what can be seen, clicks and types.
 *
 * A text, because it is written into a foreign document and must not lean on anything of ours. It speaks over one
 * message port; every request has a number and gets one answer. The globals it reads are those of MiniWoB's core.js.
 */
export const BRIDGE = `(() => {
  'use strict';
  const port = window.sandboxPort;
  delete window.sandboxPort;
  const HIDDEN = new Set(['reward-display', 'sync-task-cover', 'click-canvas', 'query']);
  const MAX_ELEMENTS = 400;
  let seen = [];
  const squeeze = (text) => String(text == null ? '' : text).replace(/\\s+/g, ' ').trim().slice(0, 200);
  const ownText = (element) => squeeze([...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data).join(' '));
  const visible = (element) => {
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    return box.width > 0 && box.height > 0 && style.visibility !== 'hidden' && style.display !== 'none';
  };
  const roleOf = (element) => {
    const tag = element.tagName.toLowerCase();
    if (tag === 'input') return { checkbox: 'checkbox', radio: 'radio', submit: 'button', button: 'button' }[element.type] || 'text box';
    return { a: 'link', button: 'button', textarea: 'text box', select: 'menu', h1: 'heading', h2: 'heading', h3: 'heading' }[tag] || tag;
  };
  const describe = (element) => {
    const tag = element.tagName.toLowerCase();
    if (tag === 'select') {
      const options = [...element.options].map((option) => squeeze(option.text));
      return squeeze(options[element.selectedIndex]) + ' (of ' + options.join(', ') + ')';
    }
    if (tag === 'input' && (element.type === 'checkbox' || element.type === 'radio')) {
      const label = element.labels && element.labels[0] ? squeeze(element.labels[0].textContent) : squeeze(element.value);
      return label + (element.checked ? ' = on' : ' = off');
    }
    if (tag === 'input' && (element.type === 'submit' || element.type === 'button')) return squeeze(element.value);
    if (tag === 'input' || tag === 'textarea') return squeeze(element.id || element.name || element.placeholder) + ' = ' + (squeeze(element.value) || 'empty');
    return ownText(element) || squeeze(element.getAttribute('aria-label') || element.getAttribute('alt') || '');
  };
  const acts = (element) => /^(a|button|input|textarea|select)$/i.test(element.tagName) || element.onclick !== null;
  const observe = () => {
    seen = [];
    const elements = [];
    const visit = (element) => {
      if (elements.length >= MAX_ELEMENTS || HIDDEN.has(element.id) || /^(script|style|option)$/i.test(element.tagName)) return;
      const words = visible(element) ? describe(element) : '';
      // Shapes have no words: their kind, colour and size are what tasks ask about.
      const shape = element instanceof SVGElement && element.tagName.toLowerCase() !== 'svg' && element.tagName.toLowerCase() !== 'g';
      if (words !== '' || (visible(element) && (acts(element) || shape))) {
        seen.push(element);
        const extra = shape ? squeeze([element.getAttribute('fill'), element.getAttribute('class'), element.getAttribute('font-size')].filter(Boolean).join(' ')) : '';
        elements.push({ role: roleOf(element), words: squeeze(words + (extra ? ' (' + extra + ')' : '')) });
      }
      for (const child of element.children) visit(child);
    };
    if (document.body) for (const child of document.body.children) visit(child);
    const query = document.getElementById('query');
    return {
      utterance: query ? squeeze(query.textContent) : '',
      elements,
      done: window.WOB_DONE_GLOBAL === true,
      reward: Number(window.WOB_RAW_REWARD_GLOBAL) || 0,
    };
  };
  const mouse = (element, kind) => {
    const box = element.getBoundingClientRect();
    const place = { bubbles: true, cancelable: true, composed: true, view: window, button: 0, detail: 1, clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 };
    element.dispatchEvent(kind.startsWith('pointer') ? new PointerEvent(kind, { ...place, pointerId: 1, isPrimary: true }) : new MouseEvent(kind, place));
  };
  const key = (element, kind, name) => element.dispatchEvent(new KeyboardEvent(kind, { key: name, bubbles: true, cancelable: true }));
  const change = (element) => {
    element.dispatchEvent(new Event('input', { bubbles: true }));
    element.dispatchEvent(new Event('change', { bubbles: true }));
  };
  const click = (element) => {
    element.scrollIntoView({ block: 'nearest' });
    for (const kind of ['pointerover', 'mouseover', 'mousemove', 'pointerdown', 'mousedown']) mouse(element, kind);
    if (typeof element.focus === 'function') element.focus();
    for (const kind of ['pointerup', 'mouseup']) mouse(element, kind);
    if (typeof element.click === 'function') element.click();
    else mouse(element, 'click');
  };
  const act = (request) => {
    const target = request.element >= 1 ? seen[request.element - 1] : document.activeElement || document.body;
    if (!target || !target.isConnected) return false;
    if (request.kind === 'click') click(target);
    else if (request.kind === 'hover') for (const kind of ['pointerover', 'mouseover', 'mouseenter', 'mousemove']) mouse(target, kind);
    else if (request.kind === 'press') {
      key(target, 'keydown', request.text);
      key(target, 'keypress', request.text);
      key(target, 'keyup', request.text);
    } else if (request.kind === 'scroll') (request.element >= 1 ? target : document.scrollingElement).scrollBy(0, request.text === 'up' ? -100 : 100);
    else if (request.kind === 'type') {
      if (target.tagName === 'SELECT') {
        const option = [...target.options].find((each) => squeeze(each.text).toLowerCase() === request.text.trim().toLowerCase());
        if (!option) return false;
        target.value = option.value;
        change(target);
        return true;
      }
      if (!/^(input|textarea)$/i.test(target.tagName)) return false;
      target.focus();
      target.value = request.text;
      const last = request.text.slice(-1) || 'Backspace';
      key(target, 'keydown', last);
      key(target, 'keyup', last);
      change(target);
      if (request.enter) { key(target, 'keydown', 'Enter'); key(target, 'keyup', 'Enter'); }
    } else return false;
    return true;
  };
  const loaded = new Promise((resolve) => {
    if (document.readyState === 'complete') resolve();
    else window.addEventListener('load', () => setTimeout(resolve, 0));
  });
  const settle = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  port.onmessage = async (event) => {
    const request = event.data;
    try {
      await loaded;
      if (request.kind === 'start') {
        if (typeof core !== 'object' || typeof core.startEpisodeReal !== 'function') throw new Error('the page has no MiniWoB core');
        // An agent that thinks for a minute must not run out of a clock made for hands.
        core.EPISODE_MAX_TIME = 1e9;
        if (typeof Math.seedrandom === 'function') Math.seedrandom(request.seed);
        if (!core.cover_div && typeof core.startEpisode === 'function') core.startEpisode();
        core.startEpisodeReal();
        await settle(request.settleMs);
        port.postMessage({ id: request.id, ok: true, ...observe() });
        return;
      }
      const ok = act(request);
      await settle(request.settleMs);
      port.postMessage({ id: request.id, ok, ...observe() });
    } catch (error) {
      port.postMessage({ id: request.id, error: squeeze(error && error.message) || 'the page failed' });
    }
  };
})();`;
