/** @file Task templates of the map and the wiki, and some that need both. */
import { Random } from '../../household/random';
import { href } from '../site';
import { MAP_HOST } from '../sites/map';
import { addressOf, coordinatesOf, KINDS, MODES, minutesOf, nearest, PLACES, type Place } from '../sites/map-data';
import { WIKI_HOST, wikiPath } from '../sites/wiki';
import { bordersOf, PERSON_FACTS, PROVINCE_FACTS, PROVINCES } from '../sites/wiki-data';
import { asked, at, changed, submit, type Template, target } from './template';

const map = (path: string): string => `http://${MAP_HOST}${path}`;
const wiki = (path: string): string => `http://${WIKI_HOST}${path}`;
const random = new Random('web/tasks/map');
const toPlace = (place: Place): string[] => [
  map('/'),
  map(href('/search', { q: place.name })),
  map(`/place/${place.id}`),
];
const toArticle = (title: string): string[] => [wiki('/'), wiki(href('/search', { q: title })), wiki(wikiPath(title))];
const MODE_WORDS = { walk: 'on foot', bike: 'by bicycle', drive: 'by car' } as const;

export const MAP_TEMPLATES: readonly Template[] = [
  {
    id: 'map_phone',
    site: 'map',
    intent: 'What is the telephone number of the {{place}}?',
    instances: random
      .sample(PLACES, 6)
      .map((place) => asked({ place: place.name }, { must_include: [place.phone] }, place.phone, toPlace(place))),
  },
  {
    id: 'map_address',
    site: 'map',
    intent: 'What are the postcode and the coordinates of the {{place}}?',
    instances: random
      .sample(PLACES, 5)
      .map((place) =>
        asked(
          { place: place.name },
          { must_include: [place.postcode, ...coordinatesOf(place).split(', ')] },
          `${addressOf(place)} at ${coordinatesOf(place)}`,
          toPlace(place),
        ),
      ),
  },
  {
    id: 'map_time',
    site: 'map',
    intent: 'How many minutes does it take to get from the {{from}} to the {{to}} {{mode}}? Answer with a number only.',
    instances: Array.from({ length: 6 }, (_, index) => {
      const [from, to] = random.sample(PLACES, 2);
      const mode = MODES[index % 3];
      const minutes = String(minutesOf(from, to, mode));
      return asked({ from: from.name, to: to.name, mode: MODE_WORDS[mode] }, { exact_match: minutes }, minutes, [
        map('/'),
        map('/directions'),
        map(href('/directions', { from: from.name, to: to.name, mode })),
      ]);
    }),
  },
  {
    id: 'map_nearest',
    site: 'map',
    intent: 'Which {{kind}} is nearest to the {{place}} on foot?',
    instances: random.sample(PLACES, 6).map((place, index) => {
      const kind = KINDS.filter((name) => name !== place.kind)[index];
      const [first] = nearest(place, kind);
      return asked({ kind, place: place.name }, { must_include: [first.name] }, first.name, [
        ...toPlace(place),
        map(href('/nearby', { to: place.name, kind })),
      ]);
    }),
  },
  {
    id: 'map_save',
    site: 'map',
    intent: 'Save the {{place}} and write the note "{{note}}" on it',
    instances: random.sample(PLACES, 5).map((place, index) => {
      const note = ['Ask for Ada', 'Back door', 'Closed in winter', 'Quiet in the morning', 'Bring cash'][index];
      return changed(
        { place: place.name, note },
        [
          target(map('/saved'), '.saved', { must_include: [place.name] }),
          target(map(`/place/${place.id}`), '.note', { exact_match: note }),
        ],
        [
          ...toPlace(place).map(at),
          submit('/save', { place: String(place.id) }, (state) => state.map.saved.includes(place.id)),
          submit('/note', { place: String(place.id), text: note }, (state) => state.map.notes[place.id] === note),
        ],
      );
    }),
  },
];

export const WIKI_TEMPLATES: readonly Template[] = [
  {
    id: 'wiki_capital',
    site: 'wikipedia',
    intent: 'What is the capital of the province {{province}}?',
    instances: PROVINCE_FACTS.map((facts) =>
      asked({ province: facts.name }, { must_include: [facts.capital] }, facts.capital, toArticle(facts.name)),
    ),
  },
  {
    id: 'wiki_borders',
    site: 'wikipedia',
    intent: 'Which provinces border {{province}}?',
    instances: random.sample([0, 1, 2, 3, 4, 5, 6, 7, 8], 6).map((index) => {
      const names = bordersOf(index).map((other) => PROVINCES[other]);
      const others = PROVINCES.filter((name, other) => other !== index && !names.includes(name));
      return asked(
        { province: PROVINCES[index] },
        { must_include: names, must_exclude: others },
        names.join(', '),
        toArticle(PROVINCES[index]),
      );
    }),
  },
  {
    id: 'wiki_lifetime',
    site: 'wikipedia',
    intent: 'How old did {{person}} become, counting only years? Answer with a number only.',
    instances: PERSON_FACTS.slice(0, 6).map((person) => {
      const age = String(person.died - person.born);
      return asked({ person: person.name }, { required_values: [`== ${age}`] }, age, toArticle(person.name));
    }),
  },
  {
    id: 'wiki_birthplace_export',
    site: 'wikipedia',
    intent: 'What is the main export of the province in whose capital {{person}} was born?',
    instances: PERSON_FACTS.slice(2).map((person) => {
      const facts = PROVINCE_FACTS.find((each) => each.capital === person.birthplace) ?? PROVINCE_FACTS[0];
      return asked({ person: person.name }, { must_include: [facts.goods] }, facts.goods, [
        ...toArticle(person.name),
        wiki(wikiPath(facts.capital)),
        wiki(wikiPath(facts.name)),
      ]);
    }),
  },
  {
    id: 'wiki_edit',
    site: 'wikipedia',
    intent: 'Replace the text of the article {{title}} by "{{text}}"',
    instances: random.sample(PERSON_FACTS, 4).map((person) => {
      const text = `${person.name} was a ${person.trade}.`;
      return changed(
        { title: person.name, text },
        [target(wiki(wikiPath(person.name)), '.article', { exact_match: text })],
        [
          ...[...toArticle(person.name), wiki(`/edit/${person.name.replaceAll(' ', '_')}`)].map(at),
          submit('/edit', { title: person.name, text }, (state) => state.wiki.edits[person.name] === text),
        ],
      );
    }),
  },
];
