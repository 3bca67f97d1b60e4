/** @file The code host: projects, issues, merge requests, commits, members, stars, a dashboard. */
import { type Child, h } from '../nodes';
import { href, noticeFor, type Page, type Request, type Site } from '../site';
import { isoDay } from './calendar';
import { changeCode } from './code-changes';
import { CODE_HOST, ISSUE_HEADS, issueRow, projectSection } from './code-project';
import { type CodeState, fullName, type Project, projectAt, starsOf } from './code-state';
import {
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
import { partSite } from './part-site';

export { CODE_HOST };

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

export const code: Site = partSite({ name: 'code', host: CODE_HOST, part: 'code', change: changeCode, pageAt });
