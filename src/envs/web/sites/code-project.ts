/** @file The pages of one project on the code host: front page, issues, merge requests, commits, members. */
import { type Child, h } from '../nodes';
import type { Page, Request } from '../site';
import { isoDay } from './calendar';
import { type CodeState, contributors, fullName, type Issue, LABELS, type Project, ROLES, starsOf } from './code-state';
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
  mentions,
  pageLinks,
  post,
  slice,
  table,
} from './layout';

export const CODE_HOST = 'code.example';
const PER_PAGE = 10;

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

export const issueRow = (project: Project, issue: Issue): Child[] => [
  link(`#${issue.number} ${issue.title}`, `/${fullName(project)}/-/issues/${issue.number}`),
  issue.labels.join(', '),
  issue.author,
  issue.assignee ?? 'nobody',
  issue.open ? 'open' : 'closed',
  isoDay(issue.day),
];
export const ISSUE_HEADS = ['Issue', 'Labels', 'Author', 'Assignee', 'State', 'Created'];

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

export function projectSection(state: CodeState, project: Project, request: Request, shown: Frame): Page | null {
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
