import { defineConfig } from 'vite';

/** The page. `base: './'` lets one build serve any folder of any static host. */
export default defineConfig({
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  build: { target: 'es2022', license: true, chunkSizeWarningLimit: 400 },
});
