/** @file The forum: boards, posts, comments, votes, subscriptions, profiles, search. */
import { type Child, h } from '../nodes';
import { href, noticeFor, type Page, type Request, type Site } from '../site';
import { isoDay } from './calendar';
import { changeForum } from './forum-changes';
import { type ForumState, type Post, postById, postPath, SORTS, scoreOf, sortPosts } from './forum-state';
import {
  area,
  button,
  choice,
  type Frame,
  field,
  form,
  frame,
  hidden,
  link,
  localPath,
  loginPage,
  mentions,
  notFound,
  pageLinks,
  post as postButton,
  slice,
} from './layout';
import { partSite } from './part-site';

export const FORUM_HOST = 'forum.example';
const PER_PAGE = 10;

const frameOf = (state: ForumState, request: Request): Frame => ({
  site: 'Lantern Forum',
  user: state.user,
  links: [
    ['Forums', '/forums'],
    ['Submit', '/submit'],
    ...(state.user === null ? [] : ([['My profile', `/user/${state.user}`]] as const)),
  ],
  search: { action: '/search', label: 'Search posts', value: request.path === '/search' ? request.query.q : '' },
  notice: noticeFor(state.notice, request),
});

/** One post in a list. */
const entry = (state: ForumState, post: Post): Child =>
  h(
    'li',
    { class: 'submission' },
    link(post.title, postPath(post)),
    h(
      'p',
      null,
      `${scoreOf(state, post)} points, ${post.comments.length} comments, ${isoDay(post.day)}, by `,
      link(post.author, `/user/${post.author}`),
      ' in ',
      link(post.forum, `/f/${post.forum}`),
    ),
  );

function list(state: ForumState, request: Request, title: string, posts: readonly Post[], above: Child): Page {
  const sort = request.query.sort ?? 'hot';
  const part = slice(sortPosts(state, posts, sort), request.query.p, PER_PAGE);
  return frame(
    frameOf(state, request),
    title,
    above,
    h(
      'nav',
      { 'aria-label': 'Sort' },
      SORTS.map((name) => link(`Sort by ${name}`, href(request.path, { ...request.query, sort: name, p: '' }))),
    ),
    h(
      'ul',
      { class: 'posts' },
      part.items.map((post) => entry(state, post)),
    ),
    pageLinks(part, request.path, request.query),
  );
}

function postPage(state: ForumState, request: Request, post: Post): Page {
  const vote = state.votes[post.id];
  return frame(
    frameOf(state, request),
    post.title,
    h('article', { class: 'submission__inner' }, h('p', { class: 'submission__body' }, post.text)),
    h(
      'p',
      null,
      'Submitted by ',
      link(post.author, `/user/${post.author}`),
      ` on ${isoDay(post.day)} in `,
      link(post.forum, `/f/${post.forum}`),
    ),
    h('p', { class: 'submission__score' }, `${scoreOf(state, post)} points`),
    h(
      'div',
      { class: `submission__vote ${vote === 1 ? 'vote--user-upvoted' : vote === -1 ? 'vote--user-downvoted' : ''}` },
      postButton('/vote', vote === 1 ? 'Retract upvote' : 'Upvote', { post: post.id, vote: vote === 1 ? 0 : 1 }),
      postButton('/vote', vote === -1 ? 'Retract downvote' : 'Downvote', { post: post.id, vote: vote === -1 ? 0 : -1 }),
    ),
    post.author === state.user && [
      form(
        { action: '/edit', method: 'post', 'aria-label': 'Edit post' },
        hidden('post', post.id),
        area('Edit text', 'text', post.text),
        button('Save changes'),
      ),
      postButton('/delete', 'Delete post', { post: post.id }),
    ],
    h('h2', null, `${post.comments.length} comments`),
    h(
      'ul',
      { class: 'comments' },
      post.comments.map((comment) =>
        h(
          'li',
          { class: 'comment' },
          link(comment.author, `/user/${comment.author}`),
          h('span', { class: 'comment__score' }, `${comment.score} points`),
          h('p', { class: 'comment__body' }, comment.text),
        ),
      ),
    ),
    state.user === null
      ? h('p', null, 'Sign in to comment.')
      : form(
          { action: '/comment', method: 'post' },
          hidden('post', post.id),
          area('Your comment', 'text', '', { required: true }),
          button('Post comment'),
        ),
  );
}

function userPage(state: ForumState, request: Request, user: string): Page | null {
  const posts = state.posts.filter((post) => post.author === user);
  const comments = state.posts.flatMap((post) => post.comments.filter((comment) => comment.author === user));
  if (posts.length + comments.length === 0 && user !== state.user) return null;
  const about = h(
    'div',
    { class: 'user-bio' },
    h('p', { class: 'user-bio__biography' }, state.bios[user] ?? 'No biography.'),
    h('p', null, `${posts.length} posts, ${comments.length} comments`),
    user === state.user && link('Edit biography', `/user/${user}/edit`),
  );
  return list(state, request, user, posts, about);
}

function pageAt(state: ForumState, request: Request): Page | { redirect: string } {
  const shown = frameOf(state, request);
  const [head, name, id] = request.segments;
  const forum = state.forums.find((candidate) => candidate.name.toLowerCase() === name?.toLowerCase());
  switch (head) {
    case undefined:
      return list(state, request, 'All posts', state.posts, null);
    case 'forums':
      return frame(
        shown,
        'Forums',
        link('Create a forum', '/create_forum'),
        h(
          'ul',
          null,
          state.forums.map((each) => h('li', null, link(each.name, `/f/${each.name}`), h('p', null, each.description))),
        ),
      );
    case 'f': {
      if (forum === undefined) break;
      const post = id === undefined ? undefined : postById(state, id);
      if (id !== undefined) {
        if (post === undefined || post.forum !== forum.name) break;
        return postPage(state, request, post);
      }
      const subscribed = state.subscriptions.includes(forum.name);
      return list(
        state,
        request,
        forum.name,
        state.posts.filter((each) => each.forum === forum.name),
        [
          h('p', { class: 'forum-description' }, forum.description),
          h('p', { class: 'subscription' }, subscribed ? 'You are subscribed.' : 'You are not subscribed.'),
          postButton('/subscribe', subscribed ? 'Unsubscribe' : 'Subscribe', { forum: forum.name }),
          link(`Submit to ${forum.name}`, href('/submit', { forum: forum.name })),
        ],
      );
    }
    case 'search': {
      const query = request.query.q ?? '';
      const found = state.posts.filter((post) => mentions(`${post.title} ${post.text}`, query));
      return list(state, request, `Posts about "${query}"`, found, h('p', null, `${found.length} posts found`));
    }
    case 'login':
      return loginPage(shown, request.query.failed === '1', localPath(request.query.next));
    case 'user': {
      if (id === 'edit' && name === state.user && state.user !== null) {
        return frame(
          shown,
          'Edit biography',
          form(
            { action: '/bio', method: 'post' },
            area('Biography', 'bio', state.bios[state.user] ?? ''),
            button('Save'),
          ),
        );
      }
      const page = userPage(state, request, name ?? '');
      if (page === null) break;
      return page;
    }
    case 'submit':
    case 'create_forum': {
      if (state.user === null) return { redirect: href('/login', { next: request.path }) };
      if (head === 'create_forum') {
        return frame(
          shown,
          'Create a forum',
          form(
            { action: '/create_forum', method: 'post' },
            field('Name', 'name', '', { required: true }),
            field('Description', 'description', '', { required: true }),
            button('Create forum'),
          ),
        );
      }
      return frame(
        shown,
        'Submit a post',
        form(
          { action: '/submit', method: 'post' },
          choice(
            'Forum',
            'forum',
            state.forums.map((each) => [each.name, each.name] as const),
            request.query.forum ?? '',
          ),
          field('Title', 'title', '', { required: true }),
          area('Text', 'text', '', { required: true }),
          button('Create post'),
        ),
      );
    }
  }
  return notFound(shown);
}

export const forum: Site = partSite({ name: 'forum', host: FORUM_HOST, part: 'forum', change: changeForum, pageAt });
