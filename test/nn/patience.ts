/** @file Imported for its effect: time for a software driver to compile. */
import { vi } from 'vitest';

// Lavapipe compiles attention at its first dispatch, for tens of seconds when its cache is cold and the machine is busy:
// whichever test comes first waits for it.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });
