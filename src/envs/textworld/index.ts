/** @file Real TextWorld / ALFWorld games: read, compiled and played. */
export { lacksTask, sentenceOfTrajectory, withTask } from './alfworld';
export { worldOfGames } from './entry';
export { compileGame, type Game, type GameFile, gameFileOf, gameTask, introOf, readGameFile } from './game';
export { demangle } from './names';
export { type GameSnapshot, TextWorldGame } from './world';
