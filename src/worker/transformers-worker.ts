/** @file The worker around transformers.js: the library behind the calls that the host makes. */
import { transformersLibrary } from './transformers-worker-library';
import { serveTransformers } from './transformers-worker-service';

serveTransformers(self as unknown as Parameters<typeof serveTransformers>[0], transformersLibrary);
