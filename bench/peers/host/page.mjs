/** @file A contestant in a page: a task first, then rounds; see contest.mjs. */
import { openContest } from './contest.mjs';

/** @type {import('./contest.mjs').Opened | null} */
let opened = null;

/** @param {import('./contest.mjs').StepTask | import('./contest.mjs').DecodeTask} task */
async function answer(task) {
  try {
    if (opened) return await opened.round();
    const adapter = await navigator.gpu?.requestAdapter({ powerPreference: 'high-performance' });
    if (!adapter) return { error: 'This browser offers no WebGPU adapter.' };
    const { vendor, architecture, device, description } = adapter.info;
    opened = await openContest(task, {
      load: (path) => import(`/${path}`),
      open: async (path) => {
        const response = await fetch(`/${path}`);
        if (!response.ok) throw new Error(`${path}: ${response.status}`);
        return response.blob();
      },
    });
    return { adapter: description || [vendor, architecture, device].filter(Boolean).join(' '), ...opened.first };
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

Object.assign(globalThis, { answer });
