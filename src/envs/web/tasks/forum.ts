/** @file Task templates of the forum. */
import { Random } from '../../household/random';
import { href } from '../site';
import { FORUM_HOST } from '../sites/forum';
import {
  FORUM_PASSWORD,
  FORUM_USER,
  FORUMS,
  initialForum,
  POSTS,
  type Post,
  postPath,
  sortPosts,
} from '../sites/forum-state';
import { asked, at, changed, submit, type Template, target } from './template';

const url = (path: string): string => `http://${FORUM_HOST}${path}`;
const random = new Random('web/tasks/forum');
const FORUM = initialForum(true);
const toPost = (post: Post): string[] => [url('/'), url(href('/search', { q: post.title })), url(postPath(post))];
const inForum = (name: string): Post[] => POSTS.filter((post) => post.forum === name);
const BIOS = [
  'I grow too many tomatoes',
  'Ask me about star charts',
  'Mostly here for the bread',
  'Rides in any weather',
];

export const FORUM_TEMPLATES: readonly Template[] = [
  {
    id: 'forum_top',
    site: 'reddit',
    intent: 'What is the title of the post with the most points in the {{forum}} forum?',
    instances: FORUMS.flatMap(({ name }) => {
      const [first, second] = sortPosts(FORUM, inForum(name), 'top');
      if (first.score === second.score) return [];
      return [
        asked({ forum: name }, { must_include: [first.title] }, first.title, [
          url('/'),
          url('/forums'),
          url(`/f/${name}`),
          url(href(`/f/${name}`, { sort: 'top' })),
        ]),
      ];
    }),
  },
  {
    id: 'forum_comment_count',
    site: 'reddit',
    intent: 'How many comments does the post "{{title}}" have? Answer with a number only.',
    instances: random.sample(POSTS, 6).map((post) => {
      const count = String(post.comments.length);
      return asked({ title: post.title }, { exact_match: count }, count, toPost(post));
    }),
  },
  {
    id: 'forum_newest_author',
    site: 'reddit',
    intent: 'Who wrote the newest post in the {{forum}} forum?',
    instances: FORUMS.flatMap(({ name }) => {
      const [first, second] = sortPosts(FORUM, inForum(name), 'new');
      if (first.day === second.day) return [];
      return [
        asked({ forum: name }, { must_include: [first.author] }, first.author, [
          url('/'),
          url('/forums'),
          url(`/f/${name}`),
          url(href(`/f/${name}`, { sort: 'new' })),
        ]),
      ];
    }),
  },
  {
    id: 'forum_upvote',
    site: 'reddit',
    intent: 'Upvote the post "{{title}}"',
    instances: random.sample(POSTS, 6).map((post) =>
      changed(
        { title: post.title },
        [
          target(url(postPath(post)), "document.querySelector('div.submission__vote').getAttribute('class')", {
            must_include: ['vote--user-upvoted'],
          }),
        ],
        [
          ...toPost(post).map(at),
          submit('/vote', { post: String(post.id), vote: '1' }, (state) => state.forum.votes[post.id] === 1),
        ],
      ),
    ),
  },
  {
    id: 'forum_subscribe',
    site: 'reddit',
    intent: 'Subscribe to the {{forum}} forum',
    instances: FORUMS.slice(0, 5).map(({ name }) =>
      changed(
        { forum: name },
        [target(url(`/f/${name}`), '.subscription', { must_include: ['You are subscribed'] })],
        [
          ...[url('/'), url('/forums'), url(`/f/${name}`)].map(at),
          submit('/subscribe', { forum: name }, (state) => state.forum.subscriptions.includes(name)),
        ],
      ),
    ),
  },
  {
    id: 'forum_submit',
    site: 'reddit',
    intent: 'Post in the {{forum}} forum with the title "{{title}}" and the text "{{text}}", and stay on its page',
    instances: random.sample(FORUMS, 5).map(({ name }, index) => {
      const title = `Meeting on the ${['first', 'second', 'third', 'fourth', 'fifth'][index]} of July`;
      const text = `Who joins me at ${14 + index}:00?`;
      return changed(
        { forum: name, title, text },
        [
          target("func:reddit_get_post_url('__last_url__')", '.submission__body', { exact_match: text }),
          target("func:reddit_get_post_url('__last_url__')", 'h1', { exact_match: title }),
        ],
        [
          ...[url('/'), url('/forums'), url(`/f/${name}`), url(href('/submit', { forum: name }))].map(at),
          submit('/submit', { forum: name, title, text }, (state) =>
            state.forum.posts.some((post) => post.title === title),
          ),
        ],
      );
    }),
  },
  {
    id: 'forum_bio',
    site: 'reddit',
    intent: 'Set the biography in my profile to "{{bio}}"',
    instances: BIOS.map((bio) =>
      changed(
        { bio },
        [target(url(`/user/${FORUM_USER}`), '.user-bio__biography', { exact_match: bio })],
        [
          ...[url('/'), url(`/user/${FORUM_USER}`), url(`/user/${FORUM_USER}/edit`)].map(at),
          submit('/bio', { bio }, (state) => state.forum.bios[FORUM_USER] === bio),
        ],
      ),
    ),
  },
  {
    id: 'forum_sign_in_comment',
    site: 'reddit',
    intent: 'Sign in as {{user}} with the password {{password}} and comment "{{text}}" on the post "{{title}}"',
    signedIn: false,
    instances: random.sample(POSTS, 5).map((post, index) => {
      const text = ['Well said', 'I had the same question', 'Thank you for this', 'Count me in', 'Please tell us more'][
        index
      ];
      return changed(
        { user: FORUM_USER, password: FORUM_PASSWORD, text, title: post.title },
        [target(url(postPath(post)), '.comments', { must_include: [FORUM_USER, text] })],
        [
          ...[url('/'), url('/login')].map(at),
          submit('/login', { user: FORUM_USER, password: FORUM_PASSWORD }, (state) => state.forum.user !== null),
          ...toPost(post).slice(1).map(at),
          submit('/comment', { post: String(post.id), text }, (state) =>
            state.forum.posts.some(
              (other) => other.id === post.id && other.comments.some((comment) => comment.text === text),
            ),
          ),
        ],
      );
    }),
  },
];
