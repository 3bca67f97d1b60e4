/**
 * @file The page's one Trusted Types policy: only a script of this very origin may become a worker.
 *
 * `new Worker(url)` is a script sink; under the built page's policy (vite.config.ts) a plain string is refused. A
 * policy named `default` is asked for every such string, so the code that starts the worker needs to know nothing of it.
 */

interface TrustedTypesFactory {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): unknown;
}

export function trustOwnWorkers(): void {
  const factory = (window as { trustedTypes?: TrustedTypesFactory }).trustedTypes;
  factory?.createPolicy('default', {
    createScriptURL(url) {
      if (new URL(url, document.baseURI).origin === window.location.origin) return url;
      throw new TypeError('Only scripts of this page may run.');
    },
  });
}
