/** @file MiniWoB++ from a folder of the user's own. */
export { bundlePage, pageName, readMiniWobFolder, type TextFiles, taskPages } from './bundle';
export { MiniWobEnvironment } from './environment';
export { type FrameOptions, MiniWobFrame, SANDBOX_FRAME } from './frame';
