/**
 * @file What to tell a person when something stands in the way: each situation has its own words.
 *
 * Pure functions from a situation to a card, so that every text can be read in a test.
 */
import type { TypedError } from '../../worker/protocol';

export type Level = 'error' | 'warning' | 'info';

export interface Card {
  /** One card per situation; a newer one with the same id replaces it. */
  id: string;
  level: Level;
  title: string;
  text: string;
  /** What the reader can do, in the order to try it. */
  advice: readonly string[];
}

export type Browser = 'chrome' | 'edge' | 'firefox' | 'safari-ios' | 'safari-mac' | 'other';

/** Good enough to give advice; never used to decide what the page does. */
export function browserOf(userAgent: string): Browser {
  if (/iPhone|iPad|iPod/.test(userAgent)) return 'safari-ios';
  if (/Firefox\//.test(userAgent)) return 'firefox';
  if (/Edg\//.test(userAgent)) return 'edge';
  if (/Chrome\/|Chromium\//.test(userAgent)) return 'chrome';
  if (/Safari\//.test(userAgent) && /Macintosh/.test(userAgent)) return 'safari-mac';
  return 'other';
}

const watchInstead = 'You can still watch the recorded run below: it needs no GPU.';

/** Checked first: on an insecure address `navigator.gpu` is missing too, and blaming the browser would mislead. */
export function insecureContext(address: string): Card {
  return {
    id: 'insecure',
    level: 'error',
    title: 'This address is not secure, so the browser hides the GPU',
    text: `Browsers offer WebGPU only on https:// pages and on this computer’s own localhost. This page was opened at ${address}.`,
    advice: [
      'Open the page by https://, or start it on this computer and use http://localhost.',
      'In a classroom without https: let every laptop run its own copy (npm start), or ask the administrator to mark this address as secure in the browser’s policy.',
      watchInstead,
    ],
  };
}

const missingAdvice: Record<Browser, readonly string[]> = {
  chrome: [
    'Update Chrome: WebGPU is on by default since version 113 on Windows, macOS and ChromeOS, and since 121 on Android 12 and newer.',
    'On Linux open chrome://flags, search for “WebGPU” and “Vulkan”, switch both on, and restart the browser.',
    'If chrome://settings/system has “Use graphics acceleration” switched off, switch it on.',
  ],
  edge: [
    'Update Edge: WebGPU is on by default since version 113.',
    'If edge://settings/system has “Use graphics acceleration” switched off, switch it on.',
  ],
  firefox: [
    'Update Firefox: WebGPU is on by default since version 141 on Windows and 145 on Macs with Apple silicon.',
    'On other systems open about:config and set dom.webgpu.enabled to true (it may be unfinished there), or use Chrome or Edge.',
  ],
  'safari-ios': [
    'Update to iOS or iPadOS 26 or newer; all browsers on this device use the same engine.',
    'Training needs much memory and the system may close the tab: a laptop is the better choice.',
  ],
  'safari-mac': ['Update to Safari 26 or newer, or use Chrome or Edge.'],
  other: ['Use a current Chrome, Edge, Firefox or Safari.'],
};

export function noWebGpu(browser: Browser): Card {
  return {
    id: 'no-webgpu',
    level: 'error',
    title: 'This browser does not offer WebGPU',
    text: 'The agent learns on your own graphics processor, and WebGPU is the way a page can use it.',
    advice: [...missingAdvice[browser], watchInstead],
  };
}

export function noAdapter(browser: Browser): Card {
  const status = browser === 'firefox' ? 'about:support' : browser === 'edge' ? 'edge://gpu' : 'chrome://gpu';
  return {
    id: 'no-adapter',
    level: 'error',
    title: 'WebGPU is here, but no graphics processor answered',
    text: 'The browser found no usable adapter. Usual reasons: an old or blocked graphics driver, a remote desktop, a virtual machine, or graphics acceleration switched off.',
    advice: [
      'Update the graphics driver, then restart the browser.',
      browser.startsWith('safari')
        ? 'Restart the browser, and the computer if that does not help.'
        : `Look at ${status} to see why the browser refuses it.`,
      watchInstead,
    ],
  };
}

export function softwareAdapter(name: string): Card {
  return {
    id: 'software',
    level: 'warning',
    title: 'No graphics hardware: this will be slow',
    text: `“${name}” is software: everything works, but an iteration takes about half a minute instead of seconds, and the full run about half an hour on two cores.`,
    advice: ['For a run of minutes choose the preset “Household, a quick taste” in Settings.'],
  };
}

export function weakLimits(limits: readonly string[]): Card {
  return {
    id: 'weak-limits',
    level: 'error',
    title: 'This graphics processor is too limited',
    text: `It offers less than WebGPU’s standard limits: ${limits.join('; ')}.`,
    advice: ['Update the browser and the graphics driver, or use another computer.', watchInstead],
  };
}

/** Titles of the typed errors a person can meet; the trainer’s own message and advice follow. */
const titles: readonly (readonly [pattern: RegExp, title: string])[] = [
  [/^(device|gpu)-lost/, 'The graphics processor was reset'],
  [/^gpu-(out-of-memory|buffer-too-large)$/, 'The graphics processor has no memory left'],
  [/^self-test-failed$/, 'This graphics processor computes wrong numbers'],
  [/^(gpu|kernel)-|^dispatch-/, 'The graphics processor refused a calculation'],
  [/^webgpu-missing$/, 'This browser does not offer WebGPU'],
  [/^no-adapter$/, 'No graphics processor answered'],
  [/^weak-limits$/, 'This graphics processor is too limited'],
  [/^storage-full$/, 'The browser’s storage is full'],
  [/^storage-denied$/, 'The browser does not let this page keep anything'],
  [/^storage-/, 'The browser’s storage failed'],
  [/^run-(locked|busy|conflict)$/, 'This run is open in another tab'],
  [/^worker-crashed$/, 'The trainer stopped unexpectedly'],
  [/model|safetensors|tensor|tokenizer|bad-weights/, 'The embedded model could not be loaded'],
  [/^(training-diverged|nan-weights)$/, 'The training went astray'],
  [/^(not-a|corrupt|newer|other)-run$/, 'This run cannot be read'],
  [/^nothing-to-|^no-(run|checkpoint)$/, 'There is nothing to do that with yet'],
  [/^(already-running|run-active)$/, 'A run is already going'],
  [/^config-invalid$/, 'These settings cannot be used'],
  [/^bad-(link|settings)$/, 'Not everything could be taken over'],
];

export function errorCard(error: TypedError): Card {
  // A link or a script that was understood in part is no failure.
  const level: Level = /^bad-(link|settings)$/.test(error.code) ? 'warning' : 'error';
  const title = titles.find(([pattern]) => pattern.test(error.code))?.[1] ?? 'Something went wrong';
  return {
    id: `error-${error.code}`,
    level,
    title,
    text: error.message,
    advice: error.advice ? [error.advice] : [],
  };
}

export const recordedMissing: Card = {
  id: 'no-recording',
  level: 'info',
  title: 'There is no recorded run here',
  text: 'This copy of the page came without runs/household-tiny.json, so there is nothing to replay before you start.',
  advice: ['Press Start to train an agent now, or import a run file.'],
};

export function recordedBroken(reason: string): Card {
  return {
    id: 'no-recording',
    level: 'warning',
    title: 'The recorded run could not be read',
    text: reason,
    advice: ['Press Start to train an agent now, or import another run file.'],
  };
}
