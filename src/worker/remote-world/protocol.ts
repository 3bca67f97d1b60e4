/** @file The typed surface between the page's remote world and its worker. Plain, cloneable data. */
import type { StepResult } from '../../envs/environment';
import type { ActionForm, JsonObject, RemoteTarget, TaskChoice } from '../../envs/remote';
import type { TypedError } from '../protocol';

export interface RemoteFacts {
  name: string;
  /** The server's own words, or what its dialect is; may be empty. */
  description: string;
  display: string;
  /** null: an action is one line of text. */
  form: ActionForm | null;
  /** Why an OpenEnv server's form could not be read. */
  formProblem: TypedError | null;
  /** It has an account of the episode to tell. */
  hasState: boolean;
}

export interface RemoteSeen {
  observation: string;
  /** What the server would accept now; null where it does not say. */
  actions: readonly string[] | null;
}

export interface RemoteStep extends RemoteSeen, Pick<StepResult, 'reward' | 'done' | 'valid'> {
  /** Why the episode was lost; it does not count then. */
  lost: TypedError | null;
}

/** Everything rejects with a DreamError of src/envs/remote/errors.ts. */
export interface RemoteWorldApi {
  /** Leaves the server before, if there was one. */
  connect(target: RemoteTarget): Promise<RemoteFacts>;
  begin(choice: TaskChoice): Promise<RemoteSeen>;
  /** A line of text, or the values of the form's fields as a person gave them. Throws `remote-action-form` for wrong ones. */
  act(action: string | JsonObject): Promise<RemoteStep>;
  /** The server's account, as JSON to read. Throws `remote-no-state`. */
  state(): Promise<string>;
  /** Ends what is under way and gives the session back. */
  leave(): Promise<void>;
}
