/**
 * @file Any HTTP server of environments, described by a user in a few lines of JSON: which requests it wants, and where in its
 * answers the observation, the reward and the end are found.
 */
import * as v from 'valibot';
import { DreamError } from '../../../data/errors';
import { isJsonObject } from '../../../data/json-object';

/** `observation`, `result.text`, `[0]`, `steps[2].state`; `$` is the whole answer. */
const jsonPath = v.pipe(
  v.string(),
  v.maxLength(200),
  v.regex(/^(\$|(\$\.?)?([A-Za-z_][\w-]*|\[\d+\])(\.[A-Za-z_][\w-]*|\[\d+\])*)$/),
);

const request = {
  method: v.optional(v.picklist(['GET', 'POST']), 'POST'),
  /** `{id}`, `{index}`, `{seed}`, `{action}` are filled in, escaped. */
  path: v.pipe(v.string(), v.maxLength(500), v.regex(/^\/(?!\/)[^\s\\#]*$/)),
  /** In it, a text that is exactly `{action}` (or another placeholder) becomes the value itself. */
  body: v.optional(v.unknown()),
};

const mappingSchema = v.strictObject({
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(100)),
  /** Absent: the server has one session, without a number. */
  create: v.optional(v.strictObject({ ...request, id: jsonPath })),
  reset: v.strictObject({ ...request, observation: jsonPath }),
  step: v.strictObject({
    ...request,
    observation: jsonPath,
    reward: jsonPath,
    /** The episode is over when any of these is true. */
    done: v.union([jsonPath, v.pipe(v.array(jsonPath), v.minLength(1), v.maxLength(4))]),
  }),
  close: v.optional(v.strictObject(request)),
  /** What an action is for the server. Default: text. */
  action: v.optional(v.picklist(['text', 'number', 'json']), 'text'),
});

export type Mapping = v.InferOutput<typeof mappingSchema>;
export type MappedRequest = Pick<Mapping['reset'], 'method' | 'path' | 'body'>;

/** Throws DreamError `remote-mapping`. */
export function checkMapping(value: unknown): Mapping {
  const result = v.safeParse(mappingSchema, value, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new DreamError(
    'remote-mapping',
    `The description of the server is wrong at ${v.getDotPath(issue) ?? 'its top'}: ${issue.message.slice(0, 200)}.`,
    'It needs a name, reset { path, observation } and step { path, observation, reward, done }; create { path, id } and close { path } may follow.',
  );
}

/** openai/gym-http-api and its kin: `POST /v1/envs/{id}/step/`. Text actions are sent as numbers where they are numbers. */
export const gymHttpApi = (environmentId: string): Mapping =>
  checkMapping({
    name: `gym:${environmentId}`.slice(0, 100),
    create: { path: '/v1/envs/', body: { env_id: environmentId }, id: 'instance_id' },
    reset: { path: '/v1/envs/{id}/reset/', body: {}, observation: 'observation' },
    step: {
      path: '/v1/envs/{id}/step/',
      body: { action: '{action}', render: false },
      observation: 'observation',
      reward: 'reward',
      done: 'done',
    },
    close: { path: '/v1/envs/{id}/close/', body: {} },
    action: 'json',
  });

/** What stands at a path; undefined where there is nothing. Own properties only. */
export function valueAt(value: unknown, path: string): unknown {
  let at = value;
  for (const [, name, index] of path.matchAll(/([A-Za-z_][\w-]*)|\[(\d+)\]/g)) {
    if (index !== undefined) at = Array.isArray(at) ? at[Number(index)] : undefined;
    else at = isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return at;
}

export type Values = Readonly<Record<'id' | 'index' | 'seed' | 'action', unknown>>;

const placeholder = /\{(id|index|seed|action)\}/g;

export function filledPath(path: string, values: Values): string {
  return path.replace(placeholder, (_, name: keyof Values) => encodeURIComponent(asText(values[name])));
}

/** Placeholders are found in values, never in keys, and what is filled in is not looked at again. */
export function filledBody(body: unknown, values: Values): unknown {
  if (typeof body === 'string') {
    const [, whole] = /^\{(id|index|seed|action)\}$/.exec(body) ?? [];
    if (whole) return values[whole as keyof Values];
    return body.replace(placeholder, (_, name: keyof Values) => asText(values[name]));
  }
  if (Array.isArray(body)) return body.map((item) => filledBody(item, values));
  if (isJsonObject(body))
    return Object.fromEntries(Object.entries(body).map(([key, item]) => [key, filledBody(item, values)]));
  return body;
}

const asText = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
