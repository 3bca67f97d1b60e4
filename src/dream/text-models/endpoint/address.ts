/** @file Which addresses an endpoint may have, and where a key may be sent. */
import { invalidAddress, invalidKey } from './errors';

export interface EndpointAddress {
  /** `…/v1/chat/completions` */
  url: string;
  /** For messages: scheme, host and port only. */
  display: string;
  secure: boolean;
}

/**
 * Reads a base address the way people write it: with or without `/v1`, a slash, or the whole path.
 * Throws DreamError `endpoint-address-invalid`.
 */
export function endpointAddress(baseUrl: string): EndpointAddress {
  let url: URL;
  try {
    url = new URL(baseUrl.trim());
  } catch {
    throw invalidAddress('it is no web address');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw invalidAddress('it must begin with http:// or https://');
  if (url.username !== '' || url.password !== '') throw invalidAddress('it holds a name or a password');
  if (url.search !== '' || url.hash !== '') throw invalidAddress('it has something after ? or #');
  let path = url.pathname.replace(/\/+$/, '').replace(/\/chat\/completions$/, '');
  if (!path.split('/').some((part) => /^v\d/.test(part))) path += '/v1';
  return {
    url: `${url.origin}${path}/chat/completions`,
    display: url.origin,
    secure: url.protocol === 'https:' || isThisMachine(url.hostname),
  };
}

/** A trimmed key, or undefined for none. Throws DreamError `endpoint-key-invalid`, which never quotes the key. */
export function checkedKey(key: string | undefined, address: EndpointAddress): string | undefined {
  const trimmed = key?.trim();
  if (!trimmed) return undefined;
  // `Headers` would refuse it with a message that quotes it.
  if (!/^[\x21-\x7e]+$/.test(trimmed))
    throw invalidKey('The key holds a blank or a character that no key has.', 'Copy it again, whole and alone.');
  if (!address.secure && !isLocalNetwork(new URL(address.url).hostname))
    throw invalidKey(
      'The key would travel unencrypted over the internet.',
      'Use an https address, or a server on this machine or its local network.',
    );
  return trimmed;
}

const isThisMachine = (host: string) =>
  host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127\./.test(host);

function isLocalNetwork(host: string): boolean {
  return (
    isThisMachine(host) ||
    /^10\./.test(host) ||
    /^192\.168\./.test(host) ||
    /^172\.(1[6-9]|2\d|3[01])\./.test(host) ||
    /^\[f[cd]/.test(host) ||
    host.endsWith('.local') ||
    (!host.includes('.') && !host.includes(':'))
  );
}
