/** @file The household in plain English, for models with a chat template. */
export { ChatTurns } from './chat-turns';
export { householdTextDomain } from './domain';
