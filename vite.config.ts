import { createHash } from 'node:crypto';
import { defineConfig, type Plugin } from 'vite';
import { PAGE_STYLE } from './src/envs/web/page-style.ts';

/**
 * What the built page may do: its own scripts, styles, worker and files, nothing from anywhere else, no eval. Trusted
 * Types allow four policies (src/worker/client.ts), which let only the page's own workers be started, and one that shows
 * the web world's pages (src/ui/worlds/web-frame.tsx): their one inline style is named by its hash. A worker
 * has a policy of its own host's choosing: it may ask the hub, or an endpoint or environment server that the reader named.
 * Only in the build: the development server needs inline scripts and a socket.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  `style-src 'self' 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'`,
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  // public/sandbox-frame.html: foreign pages (MiniWoB), in an origin and under a policy of their own.
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types app-worker models-worker experiments-worker remote-world-worker web-world-page',
].join('; ');

const securityPolicy: Plugin = {
  name: 'content-security-policy',
  apply: 'build',
  transformIndexHtml: () => [
    {
      tag: 'meta',
      attrs: { 'http-equiv': 'Content-Security-Policy', content: contentSecurityPolicy },
      injectTo: 'head-prepend',
    },
  ],
};

/** The page. `base: './'` lets one build serve any folder of any static host. */
export default defineConfig({
  base: './',
  plugins: [securityPolicy],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  build: { target: 'es2022', license: true, chunkSizeWarningLimit: 400 },
});
