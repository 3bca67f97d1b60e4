/** @file What the code host's forms do. */
import { href, type Request } from '../site';
import { TODAY } from './calendar';
import {
  CODER,
  CODER_PASSWORD,
  type CodeState,
  DEVELOPERS,
  fullName,
  type Issue,
  LABELS,
  type MergeRequest,
  type Project,
  projectAt,
  ROLES,
  replaceProject,
} from './code-state';
import { localPath, slugOf } from './layout';

interface Change {
  readonly code: CodeState;
  readonly redirect: string;
}

const done = (code: CodeState, redirect: string, text: string): Change => ({
  code: { ...code, notice: { path: redirect, text } },
  redirect,
});

/** Adds it, or takes it away when it is there. */
const toggled = (list: readonly string[], item: string): string[] =>
  list.includes(item) ? list.filter((other) => other !== item) : [...list, item];

export function changeCode(state: CodeState, request: Request): Change {
  const { form: sent, segments } = request;
  const refuse = (redirect: string): Change => ({ code: state, redirect });
  const [head, second, third] = segments;
  if (head === 'login') {
    const next = localPath(sent.next);
    if (sent.user?.trim() !== CODER || sent.password !== CODER_PASSWORD)
      return refuse(href('/login', { failed: 1, next }));
    return { code: { ...state, user: CODER }, redirect: next };
  }
  const { user } = state;
  if (user === null) return refuse('/login');
  if (head === 'logout') return { code: { ...state, user: null }, redirect: '/login' };
  if (head === '-' && second === 'profile')
    return done({ ...state, status: (sent.status ?? '').trim() }, '/-/profile', 'Your status is set.');
  if (head === 'projects' && second === 'new') {
    const name = slugOf(sent.name ?? '');
    if (name === '' || projectAt(state, user, name) !== undefined) return refuse('/projects/new');
    const project: Project = {
      owner: user,
      name,
      description: (sent.description ?? '').trim(),
      visibility: sent.visibility === 'public' ? 'public' : 'private',
      licence: 'none',
      language: 'none',
      stars: 0,
      updated: TODAY,
      issues: [],
      merges: [],
      commits: [],
      members: { [user]: 'Owner' },
    };
    return done({ ...state, projects: [...state.projects, project] }, `/${user}/${name}`, 'The project is created.');
  }
  if (second === 'follow')
    return { code: { ...state, following: toggled(state.following, head) }, redirect: `/${head}` };
  const project = projectAt(state, head ?? '', second ?? '');
  if (project === undefined) return refuse('/');
  if (third === 'star')
    return {
      code: { ...state, starred: toggled(state.starred, fullName(project)) },
      redirect: `/${fullName(project)}`,
    };
  return changeProject(state, project, user, request);
}

function changeProject(state: CodeState, project: Project, user: string, request: Request): Change {
  const { form: sent, segments } = request;
  const [, , , section, id, verb] = segments;
  const at = `/${fullName(project)}/-/${section}`;
  const text = (sent.text ?? '').trim();
  const refuse: Change = { code: state, redirect: `/${fullName(project)}` };
  if (section === 'project_members') {
    const role = ROLES.find((name) => name === sent.role);
    const invited = (sent.user ?? '').trim();
    if (project.owner !== user || role === undefined) return refuse;
    if (!DEVELOPERS.includes(invited)) return done(state, at, `There is no user ${invited}.`);
    return done(
      replaceProject(state, { ...project, members: { ...project.members, [invited]: role } }),
      at,
      `${invited} is now a member.`,
    );
  }
  if (section === 'merge_requests') {
    const merge = project.merges.find((each) => String(each.number) === id);
    if (merge === undefined || verb !== 'comment' || text === '') return refuse;
    const changed: MergeRequest = { ...merge, comments: [...merge.comments, { author: user, text }] };
    const merges = project.merges.map((each) => (each === merge ? changed : each));
    return done(replaceProject(state, { ...project, merges }), `${at}/${merge.number}`, 'Your comment is posted.');
  }
  if (section !== 'issues') return refuse;
  if (id === 'new') {
    const title = (sent.title ?? '').trim();
    if (title === '') return refuse;
    const issue: Issue = {
      number: Math.max(0, ...project.issues.map((each) => each.number)) + 1,
      title,
      text,
      author: user,
      assignee: null,
      labels: [LABELS.find((name) => name === sent.label) ?? 'bug'],
      open: true,
      day: TODAY,
      comments: [],
    };
    const next = replaceProject(state, { ...project, issues: [...project.issues, issue] });
    return done(next, `${at}/${issue.number}`, 'The issue is created.');
  }
  const issue = project.issues.find((each) => String(each.number) === id);
  if (issue === undefined) return refuse;
  const save = (changed: Issue, notice: string): Change => {
    const issues = project.issues.map((each) => (each === issue ? changed : each));
    return done(replaceProject(state, { ...project, issues }), `${at}/${issue.number}`, notice);
  };
  switch (verb) {
    case 'comment':
      return text === ''
        ? refuse
        : save({ ...issue, comments: [...issue.comments, { author: user, text }] }, 'Your comment is posted.');
    case 'assign':
      return save(
        { ...issue, assignee: sent.assignee === '' ? null : (sent.assignee ?? null) },
        'The assignee is changed.',
      );
    case 'close':
      return save({ ...issue, open: false }, 'The issue is closed.');
    case 'reopen':
      return save({ ...issue, open: true }, 'The issue is open again.');
    default:
      return refuse;
  }
}
