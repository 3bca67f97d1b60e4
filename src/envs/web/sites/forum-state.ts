/** @file The forum's fixed data from word lists of our own, and what changes: posts, comments, votes, profiles. */
import { Random } from '../../household/random';
import type { Notice } from '../site';
import { TODAY } from './calendar';
import { slugOf } from './layout';
import { people } from './people';

export interface Forum {
  readonly name: string;
  readonly description: string;
}

export interface Comment {
  readonly id: number;
  readonly author: string;
  readonly text: string;
  readonly score: number;
}

export interface Post {
  readonly id: number;
  readonly forum: string;
  readonly title: string;
  readonly slug: string;
  readonly text: string;
  readonly author: string;
  readonly day: number;
  readonly score: number;
  readonly comments: readonly Comment[];
}

export interface ForumState {
  readonly user: string | null;
  readonly forums: readonly Forum[];
  readonly posts: readonly Post[];
  /** Post id -> the user's own vote. */
  readonly votes: Readonly<Record<number, 1 | -1>>;
  readonly subscriptions: readonly string[];
  readonly bios: Readonly<Record<string, string>>;
  readonly notice: Notice | null;
}

const random = new Random('web/forum');
const USERS = people(20, 'web/forum/users');
export const FORUM_USER = USERS[0].user;
export const FORUM_PASSWORD = 'tideline-9';

const TOPICS: Record<string, readonly [string, readonly string[]]> = {
  gardening: ['Plants, soil and patience', ['tomatoes', 'roses', 'compost', 'herbs', 'a lawn', 'an apple tree']],
  cycling: [
    'Bicycles of every kind',
    ['a touring bike', 'winter tyres', 'a commute', 'disc brakes', 'a cargo bike', 'panniers'],
  ],
  baking: [
    'Bread, cakes and what went wrong',
    ['sourdough', 'rye bread', 'a lemon cake', 'croissants', 'pizza dough', 'a stand mixer'],
  ],
  astronomy: [
    'Looking up',
    ['a first telescope', 'the Perseids', 'Saturn', 'light pollution', 'a star atlas', 'astrophotography'],
  ],
  boardgames: [
    'Games on a table',
    ['a game for two', 'painted miniatures', 'a rulebook', 'cooperative games', 'a shelf', 'card sleeves'],
  ],
  hiking: [
    'Walking far',
    ['waterproof boots', 'a three day loop', 'a stove', 'blisters', 'paper maps', 'a lightweight tent'],
  ],
  photography: [
    'Light and lenses',
    ['a wide lens', 'film', 'a tripod', 'street portraits', 'old negatives', 'a darkroom'],
  ],
  music: [
    'Playing and listening',
    ['a second-hand piano', 'tuning', 'vinyl', 'choir practice', 'ear training', 'a fiddle'],
  ],
};

const QUESTIONS: readonly ((topic: string) => [string, string])[] = [
  (topic) => [
    `What should I know before I start with ${topic}?`,
    `I have read a little about ${topic} and would like to hear from people who do it.`,
  ],
  (topic) => [
    `My experience with ${topic} after one year`,
    `It took longer than I thought, but ${topic} was worth it. Ask me anything.`,
  ],
  (topic) => [`Is ${topic} worth the money?`, `Prices went up again. Would you still spend it on ${topic}?`],
  (topic) => [`A small trick for ${topic}`, `Nobody told me this about ${topic}: go slowly and write everything down.`],
];
const REPLIES = [
  'I agree with this.',
  'That did not work for me.',
  'Thanks, this helped a lot.',
  'Start small and learn as you go.',
  'Could you say more?',
  'I tried it last week.',
];

export const FORUMS: readonly Forum[] = Object.entries(TOPICS).map(([name, [description]]) => ({ name, description }));

export const POSTS: readonly Post[] = FORUMS.flatMap((forum) =>
  random
    .shuffle(TOPICS[forum.name][1].flatMap((topic) => QUESTIONS.map((make) => make(topic))))
    .slice(0, 14)
    .map(([title, text]) => ({ forum, title, text })),
).map(({ forum, title, text }, index) => ({
  id: 1001 + index,
  forum: forum.name,
  title,
  slug: slugOf(title).slice(0, 50),
  text,
  author: random.pick(USERS.slice(1)).user,
  day: TODAY - random.between(1, 200),
  score: random.between(1, 400),
  comments: Array.from({ length: random.int(7) }, (_, number) => ({
    id: (1001 + index) * 100 + number,
    author: random.pick(USERS.slice(1)).user,
    text: random.pick(REPLIES),
    score: random.between(-12, 40),
  })),
}));

export const initialForum = (signedIn: boolean): ForumState => ({
  user: signedIn ? FORUM_USER : null,
  forums: FORUMS,
  posts: POSTS,
  votes: {},
  subscriptions: [],
  bios: { [FORUM_USER]: 'New here.' },
  notice: null,
});

export const postById = (state: ForumState, id: string): Post | undefined =>
  state.posts.find((post) => String(post.id) === id);

export const postPath = (post: Post): string => `/f/${post.forum}/${post.id}/${post.slug}`;

/** What the page shows: the others' votes and the user's own. */
export const scoreOf = (state: ForumState, post: Post): number => post.score + (state.votes[post.id] ?? 0);

export const SORTS = ['hot', 'new', 'top', 'most commented'] as const;

/** Posts in the order asked for. Hot weighs the score against the age. */
export function sortPosts(state: ForumState, posts: readonly Post[], sort: string): Post[] {
  const heat = (post: Post): number => scoreOf(state, post) / (2 + TODAY - post.day);
  const key =
    sort === 'new'
      ? (post: Post) => post.day
      : sort === 'top'
        ? (post: Post) => scoreOf(state, post)
        : sort === 'most commented'
          ? (post: Post) => post.comments.length
          : heat;
  return [...posts].sort((a, b) => key(b) - key(a) || b.id - a.id);
}
