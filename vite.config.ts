import { defineConfig, type Plugin } from 'vite';

/**
 * What the built page may do: its own scripts, styles, worker and files, nothing from anywhere else, no eval. Trusted
 * Types allow two policies (src/worker/client.ts), which let only the trainer and the models' worker be started. A worker
 * has a policy of its own host's choosing: it may ask the hub or an endpoint that the reader named.
 * Only in the build: the development server needs inline scripts and a socket.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types app-worker models-worker',
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
