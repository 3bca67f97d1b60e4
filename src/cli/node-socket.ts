/** @file WebSockets for Node 20, which has none of its own. `ws` refuses large messages before they are in memory. */
import { WebSocket } from 'ws';
import type { OpenSocket, SocketLike } from '../envs/remote';

export const nodeSocket: OpenSocket = (url, { maxMessageBytes }) =>
  new WebSocket(url, {
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    followRedirects: false,
  }) as unknown as SocketLike;
