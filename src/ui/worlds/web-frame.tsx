/**
 * @file The web world's page as a person would see it: in a frame without scripts, without an origin and without a network.
 *
 * A srcdoc frame is under the page's own policy as well: nothing may be loaded, and of inline styles only the one whose hash
 * the policy names. The pages' markup is our own (envs/web/document.ts escapes every text in it).
 */
import { useEffect, useRef } from 'preact/hooks';
import type { WebWorld } from '../../envs/web';
import type { PlayableEnvironment } from '../../envs/world';

interface MarkupPolicy {
  createHTML(markup: string): unknown;
}

/** Not in the DOM's types yet. */
const { trustedTypes } = globalThis as {
  trustedTypes?: { createPolicy(name: string, rules: { createHTML(markup: string): string }): MarkupPolicy };
};

/** The page requires trusted types; this policy's name stands in its own (vite.config.ts). */
const trusted = trustedTypes?.createPolicy('web-world-page', { createHTML: (markup) => markup });

export function WebFrame({ environment, step }: { environment: PlayableEnvironment; step: number }) {
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    let current = true;
    // Whoever plays the web has fetched it already.
    void import('../../envs/web').then(({ renderDocument }) => {
      if (!current || !frame.current) return;
      const { page, tab } = (environment as WebWorld).view();
      const markup = renderDocument(page, { fields: tab.fields });
      frame.current.srcdoc = (trusted?.createHTML(markup) ?? markup) as string;
    });
    return () => {
      current = false;
    };
  }, [environment, step]);
  return <iframe ref={frame} class="world-page" sandbox="" title="The page as a person sees it (to look at only)" />;
}
