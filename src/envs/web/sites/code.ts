/** @file The code host: projects, issues, merge requests, commits, members, stars, a dashboard. */
import { type Child, h } from '../nodes';
import { type Answer, href, noticeFor, type Page, type Request, type Site, type SitesState } from '../site';
import { isoDay } from './calendar';
import { changeCode } from './code-changes';
import {
  type CodeState,
  contributors,
  fullName,
  type Issue,
  LABELS,
  type Project,
  projectAt,
  ROLES,
  starsOf,
} from './code-state';
import {
  area,
  button,
  choice,
  type Frame,
  facts,
  field,
  form,
  frame,
  link,
  localPath,
  loginPage,
  mentions,
  notFound,
  pageLinks,
  post,
  slice,
  table,
} from './layout';

export const CODE_HOST = 'code.example';
const PER_PAGE = 10;

const frameOf = (state: CodeState, request: Request): Frame => ({
  site: 'Grafthouse',
  user: state.user,
  links: [
    ['Explore', '/explore'],
    ['My issues', href('/dashboard/issues', { assignee: state.user })],
    ['My merge requests', href('/dashboard/merge_requests', { reviewer: state.user })],
    ['New project', '/projects/new'],
    ['Profile', '/-/profile'],
  ],
  search: { action: '/explore', label: 'Search projects', value: request.path === '/explore' ? request.query.q : '' },
  notice: noticeFor(state.notice, request),
});

const projectLink = (project: Project): Child => link(fullName(project), `/${fullName(project)}`);

function explore(state: CodeState, request: Request, shown: Frame): Page {
  const { q = '', sort = 'updated' } = request.query;
  const found = state.projects.filter(
    (project) => q === '' || mentions(`${fullName(project)} ${project.description} ${project.language}`, q),
  );
  const sorted = [...found].sort((a, b) =>
    sort === 'stars'
      ? starsOf(state, b) - starsOf(state, a)
      : sort === 'name'
        ? a.name < b.name
          ? -1
          : 1
        : b.updated - a.updated,
  );
  const part = slice(sorted, request.query.p, PER_PAGE);
  return frame(
    shown,
    'Explore projects',
    h('p', null, `${found.length} projects found`),
    h(
      'nav',
      { 'aria-label': 'Sort' },
      ['updated', 'stars', 'name'].map((name) => link(`Sort by ${name}`, href('/explore', { q, sort: name }))),
    ),
    table(
      ['Project', 'Description', 'Language', 'Stars', 'Updated'],
      part.items.map((project) => [
        projectLink(project),
        project.description,
        project.language,
        String(starsOf(state, project)),
        isoDay(project.updated),
      ]),
    ),
    pageLinks(part, '/explore', request.query),
  );
}

function projectPage(state: CodeState, project: Project, shown: Frame): Page {
  const at = `/${fullName(project)}`;
  const starred = state.starred.includes(fullName(project));
  return frame(
    shown,
    fullName(project),
    h('p', { class: 'description' }, project.description),
    facts(
      [
        ['Stars', h('span', { class: 'stars' }, String(starsOf(state, project)))],
        ['Language', project.language],
        ['Licence', project.licence],
        ['Visibility', h('span', { class: 'visibility' }, project.visibility)],
        ['Clone with SSH', h('code', { class: 'clone-ssh' }, `git@${CODE_HOST}:${fullName(project)}.git`)],
        ['Clone with HTTPS', h('code', { class: 'clone-https' }, `http://${CODE_HOST}/${fullName(project)}.git`)],
      ],
      { class: 'project' },
    ),
    post(`${at}/star`, starred ? 'Unstar' : 'Star'),
    h(
      'ul',
      null,
      h('li', null, link(`Issues (${project.issues.filter((issue) => issue.open).length} open)`, `${at}/-/issues`)),
      h('li', null, link('Merge requests', `${at}/-/merge_requests`)),
      h('li', null, link('Commits', `${at}/-/commits`)),
      h('li', null, link('Contributors', `${at}/-/contributors`)),
      h('li', null, link('Members', `${at}/-/project_members`)),
    ),
  );
}

const issueRow = (project: Project, issue: Issue): Child[] => [
  link(`#${issue.number} ${issue.title}`, `/${fullName(project)}/-/issues/${issue.number}`),
  issue.labels.join(', '),
  issue.author,
  issue.assignee ?? 'nobody',
  issue.open ? 'open' : 'closed',
  isoDay(issue.day),
];
const ISSUE_HEADS = ['Issue', 'Labels', 'Author', 'Assignee', 'State', 'Created'];

function issueList(project: Project, request: Request, shown: Frame): Page {
  const at = `/${fullName(project)}/-/issues`;
  const { state = 'opened', label = '', q = '' } = request.query;
  const found = project.issues
    .filter(
      (issue) =>
        (state === 'all' || issue.open === (state === 'opened')) &&
        (label === '' || issue.labels.includes(label)) &&
        (q === '' || mentions(issue.title, q)),
    )
    .sort((a, b) => b.day - a.day || b.number - a.number);
  const part = slice(found, request.query.p, PER_PAGE);
  return frame(
    shown,
    `Issues of ${fullName(project)}`,
    form(
      { action: at, method: 'get' },
      choice(
        'State',
        'state',
        [
          ['opened', 'Open'],
          ['closed', 'Closed'],
          ['all', 'All'],
        ],
        state,
        true,
      ),
      choice('Label', 'label', [['', 'Any'], ...LABELS.map((name) => [name, name] as const)], label, true),
      field('Title contains', 'q', q),
      button('Filter'),
    ),
    h('p', { class: 'count' }, `${found.length} issues found`),
    link('New issue', `${at}/new`),
    table(
      ISSUE_HEADS,
      part.items.map((issue) => issueRow(project, issue)),
    ),
    pageLinks(part, at, request.query),
  );
}

const comments = (list: readonly { author: string; text: string }[]): Child =>
  h(
    'ul',
    { id: 'notes-list' },
    list.map((comment) =>
      h('li', null, h('strong', null, comment.author), h('p', { class: 'note-body' }, comment.text)),
    ),
  );

function issuePage(state: CodeState, project: Project, issue: Issue, shown: Frame): Page {
  const at = `/${fullName(project)}/-/issues/${issue.number}`;
  const people: readonly (readonly [string, string])[] = [
    ['', 'nobody'],
    ...Object.keys(project.members).map((user) => [user, user] as const),
  ];
  return frame(
    shown,
    issue.title,
    h('p', { class: 'issue-text' }, issue.text),
    facts([
      ['State', h('span', { class: 'issue-state' }, issue.open ? 'open' : 'closed')],
      ['Author', issue.author],
      ['Assignee', h('span', { class: 'assignee' }, issue.assignee ?? 'nobody')],
      ['Labels', h('span', { class: 'labels' }, issue.labels.join(', '))],
      ['Created', isoDay(issue.day)],
    ]),
    comments(issue.comments),
    state.user !== null && [
      form(
        { action: `${at}/comment`, method: 'post' },
        area('Comment', 'text', '', { required: true }),
        button('Comment'),
      ),
      form(
        { action: `${at}/assign`, method: 'post' },
        choice('Assign to', 'assignee', people, issue.assignee ?? ''),
        button('Assign'),
      ),
      post(`${at}/${issue.open ? 'close' : 'reopen'}`, issue.open ? 'Close issue' : 'Reopen issue'),
    ],
  );
}

function projectSection(state: CodeState, project: Project, request: Request, shown: Frame): Page | null {
  const at = `/${fullName(project)}`;
  const [, , dash, section, id] = request.segments;
  if (dash === undefined) return projectPage(state, project, shown);
  if (dash !== '-') return null;
  if (section === 'issues') {
    if (id === undefined) return issueList(project, request, shown);
    if (id === 'new') {
      return frame(
        shown,
        'New issue',
        form(
          { action: `${at}/-/issues/new`, method: 'post' },
          field('Title', 'title', '', { required: true }),
          area('Description', 'text'),
          choice(
            'Label',
            'label',
            LABELS.map((name) => [name, name] as const),
            'bug',
          ),
          button('Create issue'),
        ),
      );
    }
    const issue = project.issues.find((each) => String(each.number) === id);
    return issue === undefined ? null : issuePage(state, project, issue, shown);
  }
  if (section === 'merge_requests') {
    if (id === undefined) {
      return frame(
        shown,
        `Merge requests of ${fullName(project)}`,
        table(
          ['Merge request', 'Author', 'Reviewer', 'State', 'Created'],
          project.merges.map((merge) => [
            link(`!${merge.number} ${merge.title}`, `${at}/-/merge_requests/${merge.number}`),
            merge.author,
            merge.reviewer ?? 'nobody',
            merge.state,
            isoDay(merge.day),
          ]),
        ),
      );
    }
    const merge = project.merges.find((each) => String(each.number) === id);
    if (merge === undefined) return null;
    return frame(
      shown,
      merge.title,
      facts([
        ['State', merge.state],
        ['Author', merge.author],
        ['Reviewer', merge.reviewer ?? 'nobody'],
        ['Branch', h('code', null, merge.branch)],
      ]),
      comments(merge.comments),
      state.user !== null &&
        form(
          { action: `${at}/-/merge_requests/${merge.number}/comment`, method: 'post' },
          area('Comment', 'text', '', { required: true }),
          button('Comment'),
        ),
    );
  }
  if (section === 'commits') {
    const { author = '' } = request.query;
    const found = project.commits.filter((commit) => author === '' || commit.author === author);
    const part = slice(found, request.query.p, 15);
    return frame(
      shown,
      `Commits of ${fullName(project)}`,
      form(
        { action: `${at}/-/commits`, method: 'get' },
        choice(
          'Author',
          'author',
          [['', 'Anybody'], ...contributors(project).map(([user]) => [user, user] as const)],
          author,
          true,
        ),
      ),
      h('p', { class: 'count' }, `${found.length} commits`),
      table(
        ['Commit', 'Message', 'Author', 'Date'],
        part.items.map((commit) => [commit.sha, commit.message, commit.author, isoDay(commit.day)]),
      ),
      pageLinks(part, `${at}/-/commits`, request.query),
    );
  }
  if (section === 'contributors') {
    return frame(
      shown,
      `Contributors of ${fullName(project)}`,
      table(
        ['Contributor', 'Commits'],
        contributors(project).map(([user, count]) => [user, String(count)]),
      ),
    );
  }
  if (section === 'project_members') {
    return frame(
      shown,
      `Members of ${fullName(project)}`,
      table(
        ['Member', 'Role'],
        Object.entries(project.members).map(([user, role]) => [user, role]),
        { class: 'members' },
      ),
      project.owner === state.user &&
        form(
          { action: `${at}/-/project_members`, method: 'post' },
          field('User name', 'user', '', { required: true }),
          choice(
            'Role',
            'role',
            ROLES.slice(0, 4).map((role) => [role, role] as const),
            'Guest',
          ),
          button('Invite member'),
        ),
    );
  }
  return null;
}

function pageAt(state: CodeState, request: Request): Page | { redirect: string } {
  const shown = frameOf(state, request);
  const [head, second] = request.segments;
  if (head === 'explore') return explore(state, request, shown);
  if (head === 'login') return loginPage(shown, request.query.failed === '1', localPath(request.query.next));
  if (head === undefined || head === 'dashboard' || head === 'projects' || head === '-') {
    if (state.user === null) return { redirect: href('/login', { next: request.path }) };
  }
  if (head === undefined) {
    const own = state.projects.filter((project) => project.owner === state.user);
    return frame(
      shown,
      'Your projects',
      h(
        'ul',
        null,
        own.map((project) => h('li', null, projectLink(project), h('p', null, project.description))),
      ),
    );
  }
  if (head === 'dashboard' && second === 'issues') {
    const { assignee = '' } = request.query;
    const found = state.projects.flatMap((project) =>
      project.issues
        .filter((issue) => issue.open && (assignee === '' || issue.assignee === assignee))
        .map((issue) => [fullName(project), ...issueRow(project, issue)]),
    );
    return frame(
      shown,
      'Open issues',
      h('p', { class: 'count' }, `${found.length} issues found`),
      table(['Project', ...ISSUE_HEADS], found),
    );
  }
  if (head === 'dashboard' && second === 'merge_requests') {
    const { reviewer = '' } = request.query;
    const found = state.projects.flatMap((project) =>
      project.merges
        .filter((merge) => merge.state === 'open' && (reviewer === '' || merge.reviewer === reviewer))
        .map((merge) => [
          fullName(project),
          link(`!${merge.number} ${merge.title}`, `/${fullName(project)}/-/merge_requests/${merge.number}`),
          merge.author,
        ]),
    );
    return frame(
      shown,
      'Open merge requests',
      h('p', { class: 'count' }, `${found.length} merge requests found`),
      table(['Project', 'Merge request', 'Author'], found),
    );
  }
  if (head === 'projects' && second === 'new') {
    return frame(
      shown,
      'New project',
      form(
        { action: '/projects/new', method: 'post' },
        field('Project name', 'name', '', { required: true }),
        field('Project description', 'description'),
        choice(
          'Visibility',
          'visibility',
          [
            ['private', 'Private'],
            ['public', 'Public'],
          ],
          'private',
        ),
        button('Create project'),
      ),
    );
  }
  if (head === '-' && second === 'profile') {
    return frame(
      shown,
      'Profile',
      facts([
        ['User', state.user ?? ''],
        ['Status', h('span', { class: 'cover-status' }, state.status === '' ? 'no status' : state.status)],
        ['Following', h('span', { class: 'following' }, state.following.join(', ') || 'nobody')],
        ['Starred', h('span', { class: 'starred' }, state.starred.join(', ') || 'nothing')],
      ]),
      form(
        { action: '/-/profile', method: 'post' },
        field('Your status', 'status', state.status),
        button('Set status'),
      ),
    );
  }
  const project = projectAt(state, head, second ?? '');
  if (project !== undefined) return projectSection(state, project, request, shown) ?? notFound(shown);
  const theirs = state.projects.filter((each) => each.owner === head);
  const known = second === undefined && (theirs.length > 0 || state.projects.some((each) => head in each.members));
  if (!known) return notFound(shown);
  return frame(
    shown,
    head,
    state.user !== null &&
      head !== state.user &&
      post(`/${head}/follow`, state.following.includes(head) ? 'Unfollow' : 'Follow'),
    h(
      'ul',
      null,
      theirs.map((each) => h('li', null, projectLink(each))),
    ),
  );
}

export const code: Site = {
  name: 'code',
  host: CODE_HOST,
  handle(state: SitesState, request: Request): Answer {
    if (request.method === 'POST') {
      const { code: changed, redirect } = changeCode(state.code, request);
      return { state: changed === state.code ? state : { ...state, code: changed }, redirect };
    }
    const answer = pageAt(state.code, request);
    return 'redirect' in answer ? { state, redirect: answer.redirect } : { state, page: answer };
  },
};
