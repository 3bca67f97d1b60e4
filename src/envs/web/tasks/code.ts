/** @file Task templates of the code host. */
import { Random } from '../../household/random';
import { href } from '../site';
import { CODE_HOST } from '../sites/code';
import {
  CODER,
  contributors,
  DEVELOPERS,
  fullName,
  initialCode,
  LABELS,
  PROJECTS,
  type Project,
  starsOf,
} from '../sites/code-state';
import { asked, at, changed, submit, type Template, target } from './template';

const url = (path: string): string => `http://${CODE_HOST}${path}`;
const random = new Random('web/tasks/code');
const CODE = initialCode(true);
const own = PROJECTS.filter((project) => project.owner === CODER);
/** Own projects stand on the front page, the others are found by search. */
const toProject = (project: Project): string[] =>
  project.owner === CODER
    ? [url('/'), url(`/${fullName(project)}`)]
    : [url('/'), url(href('/explore', { q: project.name })), url(`/${fullName(project)}`)];
const section = (project: Project, name: string): string => url(`/${fullName(project)}/-/${name}`);
const current = (state: { projects: readonly Project[] }, project: Project): Project =>
  state.projects.find((other) => fullName(other) === fullName(project)) ?? project;

export const CODE_TEMPLATES: readonly Template[] = [
  {
    id: 'code_stars',
    site: 'gitlab',
    intent: 'How many stars does the project {{project}} have? Answer with a number only.',
    instances: random.sample(PROJECTS, 6).map((project) => {
      const stars = String(starsOf(CODE, project));
      return asked({ project: fullName(project) }, { exact_match: stars }, stars, toProject(project));
    }),
  },
  {
    id: 'code_contributor',
    site: 'gitlab',
    intent: 'Who made the most commits to {{project}}, and how many?',
    instances: PROJECTS.flatMap((project) => {
      const [first, second] = contributors(project);
      if (second !== undefined && first[1] === second[1]) return [];
      const [user, count] = first;
      return [
        asked({ project: fullName(project) }, { must_include: [user, String(count)] }, `${user}, ${count} commits`, [
          ...toProject(project),
          section(project, 'contributors'),
        ]),
      ];
    }).slice(0, 6),
  },
  {
    id: 'code_clone',
    site: 'gitlab',
    intent: 'What is the address to clone {{project}} with SSH?',
    instances: random.sample(PROJECTS, 5).map((project) => {
      const address = `git@${CODE_HOST}:${fullName(project)}.git`;
      return asked({ project: fullName(project) }, { must_include: [address] }, address, toProject(project));
    }),
  },
  {
    id: 'code_label_count',
    site: 'gitlab',
    intent: 'How many open issues with the label "{{label}}" does {{project}} have? Answer with a number only.',
    instances: random.sample(PROJECTS, 6).map((project, index) => {
      const label = LABELS[index % LABELS.length];
      const count = String(project.issues.filter((issue) => issue.open && issue.labels.includes(label)).length);
      return asked({ project: fullName(project), label }, { exact_match: count }, count, [
        ...toProject(project),
        section(project, 'issues'),
        section(project, href('issues', { state: 'opened', label })),
      ]);
    }),
  },
  {
    id: 'code_new_issue',
    site: 'gitlab',
    intent: 'Open an issue in {{project}} with the title "{{title}}" and the label "{{label}}"',
    instances: random.sample(PROJECTS, 5).map((project, index) => {
      const title = `Please support ${['tabs', 'colours', 'long names', 'older files', 'two languages'][index]}`;
      const label = LABELS[(index + 1) % LABELS.length];
      const next = Math.max(...project.issues.map((issue) => issue.number)) + 1;
      return changed(
        { project: fullName(project), title, label },
        [
          target(section(project, `issues/${next}`), 'h1', { exact_match: title }),
          target(section(project, `issues/${next}`), '.labels', { exact_match: label }),
        ],
        [
          ...[...toProject(project), section(project, 'issues'), section(project, 'issues/new')].map(at),
          submit(`/${fullName(project)}/-/issues/new`, { title, label }, (state) =>
            current(state.code, project).issues.some((issue) => issue.title === title),
          ),
        ],
      );
    }),
  },
  {
    id: 'code_invite',
    site: 'gitlab',
    intent: 'Invite {{user}} to my project {{project}} as {{role}}',
    instances: own.map((project, index) => {
      const user = DEVELOPERS.filter((name) => !(name in project.members))[index];
      const role = ['Reporter', 'Developer', 'Maintainer', 'Guest'][index % 4];
      return changed(
        { user, role, project: project.name },
        [
          target(section(project, 'project_members'), `func:gitlab_get_project_memeber_role(__page__, '${user}')`, {
            exact_match: role,
          }),
        ],
        [
          ...[...toProject(project), section(project, 'project_members')].map(at),
          submit(
            `/${fullName(project)}/-/project_members`,
            { user, role },
            (state) => current(state.code, project).members[user] === role,
          ),
        ],
      );
    }),
  },
  {
    id: 'code_star',
    site: 'gitlab',
    intent: 'Star the project {{project}}',
    instances: random
      .sample(PROJECTS.slice(4), 5)
      .map((project) =>
        changed(
          { project: fullName(project) },
          [target(url('/-/profile'), '.starred', { must_include: [fullName(project)] })],
          [
            ...toProject(project).map(at),
            submit(`/${fullName(project)}/star`, {}, (state) => state.code.starred.includes(fullName(project))),
          ],
        ),
      ),
  },
  {
    id: 'code_status',
    site: 'gitlab',
    intent: 'Set my status to "{{status}}"',
    instances: ['Away until Monday', 'Reviewing', 'On call', 'Learning Rust'].map((status) =>
      changed(
        { status },
        [target(url('/-/profile'), '.cover-status', { exact_match: status })],
        [
          ...[url('/'), url('/-/profile')].map(at),
          submit('/-/profile', { status }, (state) => state.code.status === status),
        ],
      ),
    ),
  },
  {
    id: 'code_close_issue',
    site: 'gitlab',
    intent: 'Close the issue #{{number}} of {{project}}',
    instances: own.map((project) => {
      const issue = [...project.issues].filter((each) => each.open).at(-1) ?? project.issues[0];
      const path = `/${fullName(project)}/-/issues/${issue.number}`;
      return changed(
        { number: String(issue.number), project: fullName(project) },
        [target(url(path), '.issue-state', { exact_match: 'closed' })],
        [
          ...[...toProject(project), section(project, 'issues'), url(path)].map(at),
          submit(`${path}/close`, {}, (state) =>
            current(state.code, project).issues.some((each) => each.number === issue.number && !each.open),
          ),
        ],
      );
    }),
  },
];
