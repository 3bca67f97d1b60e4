/**
 * @file One WebSocket, one request in flight: OpenEnv answers carry no ids, so order is all there is.
 *
 * A message that nobody asked for would shift every later answer by one; hence it closes the channel. Memory stays bounded
 * without a queue: whatever comes in is either the one answer or the end.
 */
import type { DreamError } from '../../../data/errors';
import * as errors from '../errors';

/** The part of a browser's WebSocket that is used; `ws` for Node has it too. */
export interface SocketLike {
  readonly readyState: number;
  binaryType?: string;
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'error', listener: (event: unknown) => void): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
  addEventListener(type: 'close', listener: (event: { code?: number; reason?: string }) => void): void;
  /** Of `ws`: ends at once, where `close` would wait for a server that no longer answers. */
  terminate?(): void;
}

export type OpenSocket = (url: string, options: { maxMessageBytes: number }) => SocketLike;

/** The browser's own, where there is one. */
export const browserSocket: OpenSocket = (url) => new WebSocket(url);

export interface ChannelOptions {
  url: string;
  /** For messages. */
  display: string;
  open: OpenSocket;
  timeoutMs: number;
  maxMessageBytes: number;
  /** A message that came unasked but explains the coming end (no capacity); null when it is no such thing. */
  farewell(text: string): DreamError | null;
}

/** The close code of a peer that was sent too much. */
const messageTooBig = 1009;

const isOverLimit = (event: unknown): boolean =>
  (event as { error?: { code?: string } }).error?.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';

interface Pending {
  resolve(text: string): void;
  reject(error: DreamError): void;
}

export class Channel {
  private pending: Pending | null = null;
  private failure: DreamError | null = null;
  private opened = false;

  private constructor(
    private readonly socket: SocketLike,
    private readonly options: ChannelOptions,
  ) {}

  /** Throws `remote-unreachable`, `remote-timeout`. */
  static async open(options: ChannelOptions): Promise<Channel> {
    let socket: SocketLike;
    try {
      socket = options.open(options.url, options);
    } catch (cause) {
      throw errors.unreachable(options.display, cause);
    }
    const channel = new Channel(socket, options);
    // Listening from the first moment: a full server says so at once and hangs up.
    socket.addEventListener('message', ({ data }) => channel.take(data));
    socket.addEventListener('close', ({ code, reason }) =>
      channel.fail(
        code === messageTooBig
          ? errors.tooLarge(options.display, options.maxMessageBytes)
          : errors.disconnected(options.display, reason),
      ),
    );
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        channel.fail(errors.timedOut(options.display, options.timeoutMs));
        reject(channel.failure);
      }, options.timeoutMs);
      const settle = (act: () => void) => {
        clearTimeout(timer);
        act();
      };
      socket.addEventListener('open', () => {
        channel.opened = true;
        settle(resolve);
      });
      // After the opening, `close` follows and says why; only `ws` names a message over its limit here.
      socket.addEventListener('error', (event) =>
        settle(() => {
          if (isOverLimit(event)) channel.fail(errors.tooLarge(options.display, options.maxMessageBytes));
          if (!channel.opened) channel.fail(errors.unreachable(options.display, event));
          reject(channel.failure);
        }),
      );
      socket.addEventListener('close', () => settle(() => reject(channel.failure)));
    });
    return channel;
  }

  get isOpen(): boolean {
    return this.failure === null;
  }

  /** The next message after `text` was sent. Any failure ends the channel, since nothing later could be matched. */
  async ask(text: string): Promise<string> {
    const { display, timeoutMs } = this.options;
    if (this.failure) throw this.failure;
    if (this.pending) throw new Error('A request is under way on this channel.');
    let timer: ReturnType<typeof setTimeout> | undefined;
    const answer = new Promise<string>((resolve, reject) => {
      this.pending = { resolve, reject };
      timer = setTimeout(() => this.fail(errors.timedOut(display, timeoutMs)), timeoutMs);
    });
    try {
      this.socket.send(text);
    } catch {
      this.fail(errors.disconnected(display));
    }
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Says goodbye where one is wanted, and hangs up. */
  close(goodbye?: string): void {
    if (this.failure) return;
    try {
      if (goodbye !== undefined) this.socket.send(goodbye);
    } catch {
      // It was gone already.
    }
    this.fail(errors.closed());
  }

  private take(data: unknown): void {
    const { display, maxMessageBytes, farewell } = this.options;
    const { pending } = this;
    if (typeof data !== 'string') this.fail(errors.garbage(display, 'it sent bytes instead of text'));
    // UTF-16 units never exceed UTF-8 bytes: a cheap lower bound is enough for a cap.
    else if (data.length > maxMessageBytes) this.fail(errors.tooLarge(display, maxMessageBytes));
    else if (!pending) this.fail(farewell(data) ?? errors.unasked(display));
    else {
      this.pending = null;
      pending.resolve(data);
    }
  }

  private fail(error: DreamError): void {
    if (this.failure) return;
    this.failure = error;
    this.pending?.reject(error);
    this.pending = null;
    try {
      this.socket.close(1000);
      // A server that hangs does not answer a goodbye either.
      if (this.socket.terminate) setTimeout(() => this.socket.terminate?.(), 200);
    } catch {
      // Not open yet: the failure stands, and the socket closes when it can.
    }
  }
}
