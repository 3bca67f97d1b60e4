/** @file A person's session in a world on another machine: one server, one episode at a time. */
import { DreamError } from '../../data/errors';
import {
  actionFromValues,
  connectRemote,
  type JsonObject,
  type RemoteEnvironment,
  type RemoteOptions,
  type RemoteServer,
  type RemoteTarget,
  type TaskChoice,
} from '../../envs/remote';
import type { RemoteFacts, RemoteSeen, RemoteStep, RemoteWorldApi } from './protocol';

const longestState = 20_000;

export class RemoteWorldService implements RemoteWorldApi {
  private server: RemoteServer | null = null;
  private session: RemoteEnvironment | null = null;

  constructor(private readonly options: RemoteOptions = {}) {}

  async connect(target: RemoteTarget): Promise<RemoteFacts> {
    await this.leave();
    const server = await connectRemote(target, this.options);
    this.server = server;
    const { name, description, display, form, formProblem } = server;
    return {
      name,
      description,
      display,
      form,
      formProblem: formProblem && plain(formProblem),
      hasState: target.kind === 'openenv',
    };
  }

  async begin(choice: TaskChoice): Promise<RemoteSeen> {
    if (!this.server) throw notConnected();
    this.session ??= this.server.open();
    const { session } = this;
    const observation = await session.reset(this.server.task(choice));
    return { observation, actions: session.actions ?? null };
  }

  async act(action: string | JsonObject): Promise<RemoteStep> {
    const { session, server } = this;
    if (!session || !server) throw notConnected();
    const text = typeof action === 'string' ? action : JSON.stringify(valuesOf(server, action));
    const { observation, reward, done, valid, lost } = await session.step(text);
    const why = lost ? session.lostBecause : null;
    return { observation, reward, done, valid, lost: why && plain(why), actions: session.actions ?? null };
  }

  async state(): Promise<string> {
    if (!this.session) throw notConnected();
    if (!this.session.state)
      throw new DreamError('remote-no-state', 'This kind of server tells no state.', 'OpenEnv servers do.');
    return JSON.stringify(await this.session.state(), null, 2).slice(0, longestState);
  }

  async leave(): Promise<void> {
    const { session } = this;
    this.session = null;
    this.server = null;
    await session?.close();
  }
}

const valuesOf = ({ form }: RemoteServer, values: JsonObject): JsonObject =>
  form ? actionFromValues(form, values) : values;

const plain = ({ code, message, advice }: DreamError) => ({ code, message, advice });

const notConnected = () =>
  new DreamError('remote-no-episode', 'There is no server connected.', 'Connect to one and begin a task.');
