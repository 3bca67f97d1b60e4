/** @file The code host's fixed data from word lists of our own, and what changes: issues, members, stars, projects. */
import { Random } from '../../household/random';
import type { Notice } from '../site';
import { TODAY } from './calendar';
import { people } from './people';

export interface Issue {
  readonly number: number;
  readonly title: string;
  readonly text: string;
  readonly author: string;
  readonly assignee: string | null;
  readonly labels: readonly string[];
  readonly open: boolean;
  readonly day: number;
  readonly comments: readonly { readonly author: string; readonly text: string }[];
}

export interface MergeRequest {
  readonly number: number;
  readonly title: string;
  readonly author: string;
  readonly reviewer: string | null;
  readonly state: 'open' | 'merged' | 'closed';
  readonly branch: string;
  readonly day: number;
  readonly comments: readonly { readonly author: string; readonly text: string }[];
}

export interface Commit {
  readonly sha: string;
  readonly author: string;
  readonly message: string;
  readonly day: number;
}

export type Role = 'Guest' | 'Reporter' | 'Developer' | 'Maintainer' | 'Owner';
export const ROLES: readonly Role[] = ['Guest', 'Reporter', 'Developer', 'Maintainer', 'Owner'];

export interface Project {
  readonly owner: string;
  readonly name: string;
  readonly description: string;
  readonly visibility: 'public' | 'private';
  readonly licence: string;
  readonly language: string;
  readonly stars: number;
  readonly updated: number;
  readonly issues: readonly Issue[];
  readonly merges: readonly MergeRequest[];
  readonly commits: readonly Commit[];
  readonly members: Readonly<Record<string, Role>>;
}

export interface CodeState {
  readonly user: string | null;
  readonly projects: readonly Project[];
  /** `owner/name` of what the user starred. */
  readonly starred: readonly string[];
  readonly following: readonly string[];
  readonly status: string;
  readonly notice: Notice | null;
}

const random = new Random('web/code');
export const DEVELOPERS: readonly string[] = people(16, 'web/code/developers').map((person) => person.user);
export const CODER = DEVELOPERS[0];
export const CODER_PASSWORD = 'graphite-3';

const NAMES: readonly (readonly [string, string, string])[] = [
  ['tide-tables', 'Predicts tides from harmonic constants', 'Rust'],
  ['paper-crane', 'A static site generator with no configuration', 'Go'],
  ['quiet-clock', 'A clock for the terminal', 'C'],
  ['field-notes', 'Plain text notes with links', 'TypeScript'],
  ['moss', 'A tiny key-value store', 'Rust'],
  ['lamplight', 'Screen colours that follow the sun', 'Python'],
  ['kestrel-maps', 'Draws contour maps from height data', 'Python'],
  ['brook', 'Streams of events with back pressure', 'TypeScript'],
  ['sundial', 'Date arithmetic without surprises', 'TypeScript'],
  ['pebble-ui', 'Small accessible widgets', 'TypeScript'],
  ['graft', 'Merges structured files', 'Go'],
  ['otter', 'A test runner that stays out of the way', 'Python'],
  ['sextant', 'Routing for small boats', 'C'],
  ['loom', 'Weaves documentation from comments', 'Go'],
];
const PROBLEMS = ['Crash', 'Wrong result', 'Slow start', 'Confusing message', 'Missing option', 'Memory grows'];
const PLACES = [
  'when the file is empty',
  'on a second run',
  'with accented names',
  'after an update',
  'in dark mode',
  'on a slow disk',
];
export const LABELS = ['bug', 'question', 'enhancement', 'documentation'] as const;
const MESSAGES = [
  'Fix a rounding error',
  'Add tests',
  'Update the readme',
  'Remove dead code',
  'Handle empty input',
  'Speed up parsing',
];
const LICENCES = ['MIT', 'Apache-2.0', 'GPL-3.0', 'BSD-3-Clause'];

const sha = (): string => random.uint32().toString(16).padStart(8, '0');

export const PROJECTS: readonly Project[] = NAMES.map(([name, description, language], index) => {
  // The user's own projects come first.
  const owner = index < 4 ? CODER : random.pick(DEVELOPERS.slice(1));
  const team = random.shuffle(DEVELOPERS.filter((user) => user !== owner)).slice(0, random.between(2, 4));
  const everyone = [owner, ...team];
  const issues = Array.from(
    { length: random.between(4, 14) },
    (_, number): Issue => ({
      number: number + 1,
      title: `${random.pick(PROBLEMS)} ${random.pick(PLACES)}`,
      text: `I am using ${name} and this happens every time.`,
      author: random.pick(DEVELOPERS),
      assignee: random.chance(0.5) ? random.pick(everyone) : null,
      labels: [random.pick(LABELS)],
      open: random.chance(0.6),
      day: TODAY - 300 + number * 12 + random.int(10),
      comments: [],
    }),
  );
  const merges = Array.from({ length: random.between(2, 6) }, (_, number): MergeRequest => {
    const title = random.pick(MESSAGES);
    return {
      number: number + 1,
      title,
      author: random.pick(everyone),
      reviewer: random.chance(0.6) ? random.pick(everyone) : null,
      state: random.pick(['open', 'merged', 'closed'] as const),
      branch: title.toLowerCase().replaceAll(' ', '-'),
      day: TODAY - 200 + number * 20 + random.int(15),
      comments: [],
    };
  });
  const commits = Array.from(
    { length: random.between(10, 30) },
    (): Commit => ({
      sha: sha(),
      author: random.chance(0.4) ? owner : random.pick(everyone),
      message: random.pick(MESSAGES),
      day: TODAY - random.between(1, 250),
    }),
  ).sort((a, b) => b.day - a.day);
  const members: Record<string, Role> = { [owner]: 'Owner' };
  for (const user of team) members[user] = random.pick(ROLES.slice(0, 4));
  return {
    owner,
    name,
    description,
    language,
    visibility: 'public',
    licence: random.pick(LICENCES),
    stars: random.between(3, 2400),
    updated: commits[0].day,
    issues,
    merges,
    commits,
    members,
  };
});

export const initialCode = (signedIn: boolean): CodeState => ({
  user: signedIn ? CODER : null,
  projects: PROJECTS,
  starred: [],
  following: [],
  status: '',
  notice: null,
});

export const fullName = (project: Pick<Project, 'owner' | 'name'>): string => `${project.owner}/${project.name}`;

export const projectAt = (state: CodeState, owner: string, name: string): Project | undefined =>
  state.projects.find((project) => project.owner === owner && project.name.toLowerCase() === name.toLowerCase());

export const starsOf = (state: CodeState, project: Project): number =>
  project.stars + (state.starred.includes(fullName(project)) ? 1 : 0);

/** Author -> commits, most first; ties by name. */
export function contributors(project: Project): [string, number][] {
  const counts = new Map<string, number>();
  for (const commit of project.commits) counts.set(commit.author, (counts.get(commit.author) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

export const replaceProject = (state: CodeState, project: Project): CodeState => ({
  ...state,
  projects: state.projects.map((other) => (fullName(other) === fullName(project) ? project : other)),
});
