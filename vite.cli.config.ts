import { defineConfig } from 'vite';

/** The terminal's build of the same engine: one ES module for Node, the shaders inlined. */
export default defineConfig({
  publicDir: false,
  build: {
    target: 'node20',
    ssr: 'src/cli/dream.ts',
    outDir: '.cache/cli',
    emptyOutDir: true,
    // Readable stack traces matter more here than bytes.
    minify: false,
    // One file, so that a new build replaces it in one step under a command that is running.
    rolldownOptions: { output: { entryFileNames: 'dream.mjs', codeSplitting: false } },
  },
});
