/** @file Addresses of environment servers as people write them, made exact; nothing secret may hide in them. */
import { invalidAddress } from './errors';

export interface RemoteAddress {
  /** `http(s)://host:port/path` without a slash at the end. */
  http: string;
  /** The same as `ws(s)://`. */
  webSocket: string;
  /** For messages: scheme, host and port only (a relay's path holds its token). */
  display: string;
}

/** With or without scheme (http then), trailing slash or `/ws`. Throws DreamError `remote-address-invalid`. */
export function remoteAddress(address: string): RemoteAddress {
  const given = address.trim();
  let url: URL;
  try {
    url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`);
  } catch {
    throw invalidAddress('it is no web address');
  }
  const secure = url.protocol === 'https:' || url.protocol === 'wss:';
  if (!secure && url.protocol !== 'http:' && url.protocol !== 'ws:')
    throw invalidAddress('it must begin with http://, https://, ws:// or wss://');
  if (url.username !== '' || url.password !== '') throw invalidAddress('it holds a name or a password');
  if (url.search !== '' || url.hash !== '') throw invalidAddress('it has something after ? or #');
  const path = url.pathname.replace(/\/+$/, '').replace(/\/ws$/, '');
  const rest = `//${url.host}${path}`;
  return {
    http: `${secure ? 'https' : 'http'}:${rest}`,
    webSocket: `${secure ? 'wss' : 'ws'}:${rest}`,
    display: `${secure ? 'https' : 'http'}://${url.host}`,
  };
}
