import { defineConfig } from 'vite';

/** Every contestant as a module that runs in Node and in a page alike. */
export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  logLevel: 'warn',
  build: {
    target: 'es2022',
    minify: false,
    outDir: '../../.cache/peers/build',
    emptyOutDir: true,
    modulePreload: false,
    rolldownOptions: {
      input: {
        'step-ours': 'step/ours.ts',
        'step-jax': 'step/jax.mjs',
        'step-tfjs': 'step/tfjs.mjs',
        'decode-ours': 'decode/ours.ts',
        'write-model': 'decode/write-model.ts',
      },
      preserveEntrySignatures: 'exports-only',
      output: { entryFileNames: '[name].mjs' },
    },
  },
});
