/** @file Worlds on other machines for models that speak: the real ALFWorld, WebShop or WebArena, or any OpenEnv server. */
export { checkPlayable, type OpenRemoteWorld, openRemoteDomain, openRemoteWorld, remoteDefaults } from './open';
export { type RemoteWorld, remoteWorld } from './world';
