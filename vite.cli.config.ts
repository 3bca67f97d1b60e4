import { defineConfig } from 'vite';

/** The terminal's build of the same engine: one ES module for Node, the shaders inlined. */
export default defineConfig({
  publicDir: false,
  build: {
    target: 'node20',
    ssr: 'src/cli/dream.ts',
    outDir: '.cache/cli',
    emptyOutDir: true,
    minify: false,
    rollupOptions: { output: { entryFileNames: 'dream.mjs' } },
  },
});
