import { href, type Request } from '../site';
import { TODAY } from './calendar';
import { FORUM_PASSWORD, FORUM_USER, type ForumState, type Post, postById, postPath } from './forum-state';
import { localPath, slugOf } from './layout';

export function changeForum(state: ForumState, request: Request): { forum: ForumState; redirect: string } {
  const { form: sent, segments } = request;
  const refuse = (redirect: string) => ({ forum: state, redirect });
  const done = (forum: ForumState, redirect: string, text: string) => ({
    forum: { ...forum, notice: { path: redirect, text } },
    redirect,
  });
  const [head] = segments;
  if (head === 'login') {
    const next = localPath(sent.next);
    if (sent.user?.trim() !== FORUM_USER || sent.password !== FORUM_PASSWORD)
      return refuse(href('/login', { failed: 1, next }));
    return { forum: { ...state, user: FORUM_USER }, redirect: next };
  }
  const { user } = state;
  if (user === null) return refuse('/login');
  const post = postById(state, sent.post ?? '');
  const replace = (changed: Post): ForumState => ({
    ...state,
    posts: state.posts.map((other) => (other.id === changed.id ? changed : other)),
  });
  const text = (sent.text ?? '').trim();
  switch (head) {
    case 'logout':
      return { forum: { ...state, user: null }, redirect: '/' };
    case 'vote': {
      if (post === undefined) return refuse('/');
      const votes: Record<number, 1 | -1> = { ...state.votes };
      if (sent.vote === '1') votes[post.id] = 1;
      else if (sent.vote === '-1') votes[post.id] = -1;
      else delete votes[post.id];
      return { forum: { ...state, votes }, redirect: postPath(post) };
    }
    case 'comment': {
      if (post === undefined || text === '') return refuse('/');
      const comment = { id: post.id * 100 + 50 + post.comments.length, author: user, text, score: 1 };
      return done(
        replace({ ...post, comments: [...post.comments, comment] }),
        postPath(post),
        'Your comment is posted.',
      );
    }
    case 'edit':
      if (post === undefined || post.author !== user || text === '') return refuse('/');
      return done(replace({ ...post, text }), postPath(post), 'The post is changed.');
    case 'delete': {
      if (post === undefined || post.author !== user) return refuse('/');
      const posts = state.posts.filter((other) => other.id !== post.id);
      return done({ ...state, posts }, `/f/${post.forum}`, 'The post is deleted.');
    }
    case 'submit': {
      const forum = state.forums.find((each) => each.name === sent.forum);
      const title = (sent.title ?? '').trim();
      if (forum === undefined || title === '' || text === '') return refuse('/submit');
      const id = Math.max(1000, ...state.posts.map((other) => other.id)) + 1;
      const slug = slugOf(title).slice(0, 50) || 'post';
      const created: Post = {
        id,
        forum: forum.name,
        title,
        slug,
        text,
        author: user,
        day: TODAY,
        score: 1,
        comments: [],
      };
      return done({ ...state, posts: [...state.posts, created] }, postPath(created), 'Your post is published.');
    }
    case 'subscribe': {
      const forum = state.forums.find((each) => each.name === sent.forum);
      if (forum === undefined) return refuse('/forums');
      const subscriptions = state.subscriptions.includes(forum.name)
        ? state.subscriptions.filter((name) => name !== forum.name)
        : [...state.subscriptions, forum.name];
      return { forum: { ...state, subscriptions }, redirect: `/f/${forum.name}` };
    }
    case 'create_forum': {
      const name = slugOf(sent.name ?? '');
      if (name === '' || state.forums.some((each) => each.name === name)) return refuse('/create_forum');
      const forum = { name, description: (sent.description ?? '').trim() };
      return done({ ...state, forums: [...state.forums, forum] }, `/f/${name}`, 'The forum is created.');
    }
    case 'bio':
      return done(
        { ...state, bios: { ...state.bios, [user]: (sent.bio ?? '').trim() } },
        `/user/${user}`,
        'Your biography is saved.',
      );
    default:
      return refuse('/');
  }
}
