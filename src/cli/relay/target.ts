/** @file What the relay may call: the servers it was started for, on this machine unless a host was allowed by name. */
import { UsageError } from '../options';

/** `http://host:port`, no path of its own. */
export interface RelayTarget {
  origin: string;
  hostname: string;
  /** Loopback: nothing leaves this machine. */
  local: boolean;
}

const isLoopback = (hostname: string) =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);

/** Comma-separated addresses. Throws UsageError `bad-value`. */
export function relayTargets(addresses: string, allowedHosts: readonly string[]): RelayTarget[] {
  const parts = addresses
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (parts.length === 0)
    throw new UsageError('bad-value', '--target names no server.', 'Give http://127.0.0.1:36001.');
  if (parts.length > 16) throw new UsageError('bad-value', '--target names too many servers.', 'Give at most 16.');
  return parts.map((part) => relayTarget(part, allowedHosts));
}

function relayTarget(address: string, allowedHosts: readonly string[]): RelayTarget {
  const wrong = (why: string, advice: string) =>
    new UsageError('bad-value', `--target cannot be "${address.slice(0, 200)}": ${why}.`, advice);
  const example = 'Give scheme, host and port, for example http://127.0.0.1:36001.';
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw wrong('it is no web address', example);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw wrong('it must begin with http:// or https://', example);
  if (url.username || url.password || url.search || url.hash || url.pathname !== '/')
    throw wrong('it may hold nothing but scheme, host and port', example);
  const local = isLoopback(url.hostname);
  if (!local && !allowedHosts.includes(url.hostname))
    throw wrong(
      'it is not on this machine',
      `If web pages may really reach that machine through yours, add --allow-host ${url.hostname}.`,
    );
  return { origin: url.origin, hostname: url.hostname, local };
}

/** Pages that may call: what is served from this machine, and the origins given. */
export function originAllowed(origin: string, given: ReadonlySet<string>): boolean {
  if (given.has(origin)) return true;
  try {
    const url = new URL(origin);
    return (url.protocol === 'http:' || url.protocol === 'https:') && isLoopback(url.hostname) && url.origin === origin;
  } catch {
    return false;
  }
}
