/**
 * @file The frame a MiniWoB page runs in, and the requests to it. Everything that comes out of it is checked and cut:
 * the page is foreign code.
 */
import { DreamError } from '../../data/errors';

/** Served beside the page; it has its own content security policy (see the file). */
export const SANDBOX_FRAME = 'sandbox-frame.html';
/** Width and height that all MiniWoB tasks are drawn for, and room for their reward display. */
const SIZE = [320, 260] as const;

export interface Seen {
  /** False when the action could not be carried out. */
  readonly ok: boolean;
  readonly utterance: string;
  /** In document order; an element's number is its place from 1. */
  readonly elements: readonly { readonly role: string; readonly words: string }[];
  readonly done: boolean;
  /** MiniWoB's raw reward: not shrunk by the time that passed. */
  readonly reward: number;
}

export type FrameRequest =
  | { readonly kind: 'start'; readonly seed: number }
  | {
      readonly kind: 'click' | 'hover' | 'type' | 'press' | 'scroll';
      /** 0 for whatever has the focus. */
      readonly element: number;
      readonly text: string;
      readonly enter: boolean;
    };

export interface FrameOptions {
  /** Where the frame is put. It must be visible (a hidden frame has no layout), if need be off the screen. */
  readonly container: HTMLElement;
  /** How long a page may take to load or to answer. Default 5,000. */
  readonly timeoutMs?: number;
  /** How long a page may move after an action before it is looked at. Default 50. */
  readonly settleMs?: number;
  readonly frameUrl?: string;
}

const MAX_ELEMENTS = 400;
const text = (value: unknown): string => (typeof value === 'string' ? value.replace(/\s+/g, ' ').slice(0, 200) : '');

/** A reply as it may be trusted: only the fields we know, of the types we expect, of bounded size. */
export function readReply(value: unknown): Seen | string {
  if (typeof value !== 'object' || value === null) return 'the page answered with something else';
  const reply = value as Record<string, unknown>;
  if (typeof reply.error === 'string') return text(reply.error);
  if (!Array.isArray(reply.elements)) return 'the page answered without its elements';
  const elements = (reply.elements as unknown[]).slice(0, MAX_ELEMENTS).map((each) => {
    const element = (typeof each === 'object' && each !== null ? each : {}) as Record<string, unknown>;
    return {
      role: /^[a-z][a-z0-9 ]{0,19}$/.test(text(element.role)) ? text(element.role) : 'element',
      words: text(element.words),
    };
  });
  const reward = typeof reply.reward === 'number' && Number.isFinite(reply.reward) ? reply.reward : 0;
  return { ok: reply.ok === true, utterance: text(reply.utterance), elements, done: reply.done === true, reward };
}

export class MiniWobFrame {
  private readonly waiting = new Map<number, (reply: unknown) => void>();
  private requests = 0;
  private broken: string | null = null;

  private constructor(
    private readonly element: HTMLIFrameElement,
    private readonly port: MessagePort,
    private readonly options: FrameOptions,
  ) {
    port.onmessage = (event: MessageEvent<unknown>) => {
      const reply = event.data as { id?: unknown } | null;
      if (typeof reply !== 'object' || reply === null || typeof reply.id !== 'number') return;
      this.waiting.get(reply.id)?.(reply);
      this.waiting.delete(reply.id);
    };
  }

  /** Opens a bundled page (bundle.ts). @throws DreamError `miniwob-no-answer`. */
  static async open(html: string, options: FrameOptions): Promise<MiniWobFrame> {
    const frame = document.createElement('iframe');
    // Scripts, but an origin of its own: no storage, no cookies, no parent, no popups, no top navigation.
    frame.setAttribute('sandbox', 'allow-scripts');
    frame.setAttribute('referrerpolicy', 'no-referrer');
    frame.title = 'MiniWoB task';
    [frame.width, frame.height] = SIZE.map(String) as [string, string];
    const channel = new MessageChannel();
    const ready = new Promise<void>((resolve) => {
      const listen = (event: MessageEvent<unknown>): void => {
        if (event.source !== frame.contentWindow || (event.data as { kind?: unknown } | null)?.kind !== 'sandbox-ready')
          return;
        window.removeEventListener('message', listen);
        resolve();
      };
      window.addEventListener('message', listen);
    });
    frame.src = options.frameUrl ?? SANDBOX_FRAME;
    options.container.append(frame);
    try {
      await within(ready, options.timeoutMs ?? 5000);
    } catch (error) {
      frame.remove();
      throw error;
    }
    const opened = new MiniWobFrame(frame, channel.port1, options);
    frame.contentWindow?.postMessage({ kind: 'sandbox-write', html }, '*', [channel.port2]);
    return opened;
  }

  /** One request at a time. @throws DreamError `miniwob-no-answer`, `miniwob-page-failed`. */
  async ask(request: FrameRequest): Promise<Seen> {
    if (this.broken !== null) throw noAnswer();
    const id = ++this.requests;
    const reply = new Promise<unknown>((resolve) => this.waiting.set(id, resolve));
    this.port.postMessage({ ...request, id, settleMs: this.options.settleMs ?? 50 });
    try {
      const seen = readReply(await within(reply, this.options.timeoutMs ?? 5000));
      if (typeof seen !== 'string') return seen;
      throw new DreamError(
        'miniwob-page-failed',
        `The MiniWoB page failed: ${seen}.`,
        'Try another task; this episode is not counted.',
      );
    } catch (error) {
      this.waiting.delete(id);
      if (error instanceof DreamError && error.code === 'miniwob-no-answer') this.broken = error.message;
      throw error;
    }
  }

  close(): void {
    this.broken = 'closed';
    this.port.close();
    this.element.remove();
  }
}

const noAnswer = (): DreamError =>
  new DreamError(
    'miniwob-no-answer',
    'The MiniWoB page does not answer.',
    'It may be caught in a loop or have left its frame. The episode is lost; the next one starts in a new frame.',
  );

async function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(noAnswer()), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
