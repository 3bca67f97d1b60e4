/** @file A contestant's turn in a page; see contest.mjs. */
import { contest } from './contest.mjs';

/** @param {import('./contest.mjs').StepTask | import('./contest.mjs').DecodeTask} task */
async function runContest(task) {
  const adapter = await navigator.gpu?.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) return { error: 'This browser offers no WebGPU adapter.' };
  const { vendor, architecture, device, description } = adapter.info;
  const name = description || [vendor, architecture, device].filter(Boolean).join(' ');
  try {
    const result = await contest(task, {
      load: (path) => import(`/${path}`),
      open: async (path) => {
        const response = await fetch(`/${path}`);
        if (!response.ok) throw new Error(`${path}: ${response.status}`);
        return response.blob();
      },
    });
    return { adapter: name, ...result };
  } catch (error) {
    return { adapter: name, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

Object.assign(globalThis, { runContest });
