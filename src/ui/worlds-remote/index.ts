/** @file A world on another machine, as one component for the panel of worlds. */
export { RemoteWorld } from './remote-world';
