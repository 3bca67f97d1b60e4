/** @file Environments on other machines, behind the same interface as the built-in ones: OpenEnv, AgentGym, a mapping of your own. */

export type { JsonObject } from '../../data/json-object';
export { type RemoteAddress, remoteAddress } from './address';
export { type DialectName, dialectNames, dialects } from './agentgym/dialects';
export { AgentGymEnvironment, agentGymTask } from './agentgym/environment';
export { type AgentGymOptions, AgentGymServer } from './agentgym/server';
export { type DialectWords, dialectWords } from './agentgym/words';
export { type RemoteBatch, type RemoteEnvironment, remoteBatch } from './batch';
export {
  connectRemote,
  type RemoteOptions,
  type RemoteServer,
  type RemoteTarget,
  remoteTarget,
  type TaskChoice,
} from './connect';
export { CapacityError, ValidationError } from './errors';
export { MappedEnvironment, type MappedOptions, mappedTask } from './mapped/environment';
export { checkMapping, gymHttpApi, type Mapping } from './mapped/mapping';
export {
  type ActionForm,
  actionFromText,
  actionFromValues,
  type FieldKind,
  type FormField,
  formFromSchema,
  mainField,
} from './openenv/action-form';
export { browserSocket, type OpenSocket, type SocketLike } from './openenv/channel';
export { describeOpenEnv, type OpenEnvDescription } from './openenv/describe';
export { OpenEnvEnvironment, type OpenEnvOptions, openEnvTask } from './openenv/environment';
export { exampleAction, formWords } from './openenv/form-words';
export { parseRemoteTasks, type RemoteTask, type RemoteTasks } from './tasks';
