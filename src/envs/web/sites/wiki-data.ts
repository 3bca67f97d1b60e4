/** @file An invented country in articles: provinces, towns, rivers and people whose facts agree with each other. */
import { Random } from '../../household/random';

export interface Article {
  readonly title: string;
  /** `[[Title]]` in a text is a link. */
  readonly text: string;
  readonly facts: readonly (readonly [string, string])[];
}

export const COUNTRY = 'Valmere';
export const PROVINCES = [
  'Ardel',
  'Brenmoor',
  'Corrath',
  'Dunvale',
  'Estrin',
  'Farrow',
  'Glenhal',
  'Hesper',
  'Istra',
] as const;
const TOWNS = [
  'Amberly',
  'Birchford',
  'Copperhill',
  'Dovecote',
  'Eastwick',
  'Fernley',
  'Goldwater',
  'Highmark',
  'Port Lyra',
] as const;
const RIVERS = ['Sill', 'Tarn', 'Wend', 'Yarrow'] as const;
const PEOPLE = [
  'Adela Storm',
  'Bertil Vane',
  'Celia Harrow',
  'Dominic Lark',
  'Edda Fenwick',
  'Fergus Oake',
  'Greta Winslow',
  'Hilda Marsh',
] as const;
const TRADES = ['composer', 'physicist', 'painter', 'engineer', 'botanist', 'poet'] as const;
const GOODS = ['timber', 'wool', 'copper', 'cider', 'glass', 'salt'] as const;

/** The provinces lie in three rows of three; neighbours touch along an edge. */
export function bordersOf(index: number): number[] {
  const [row, column] = [Math.floor(index / 3), index % 3];
  return [
    [row - 1, column],
    [row, column - 1],
    [row, column + 1],
    [row + 1, column],
  ]
    .filter(([r, c]) => r >= 0 && r < 3 && c >= 0 && c < 3)
    .map(([r, c]) => r * 3 + c);
}

const random = new Random('web/wiki');

export interface ProvinceFacts {
  readonly name: string;
  readonly capital: string;
  readonly population: number;
  readonly founded: number;
  readonly river: string;
  readonly goods: string;
}

export const PROVINCE_FACTS: readonly ProvinceFacts[] = PROVINCES.map((name, index) => ({
  name,
  capital: TOWNS[index],
  population: random.between(120, 990) * 1000 + random.between(1, 9) * 100,
  founded: random.between(1180, 1790),
  river: RIVERS[index % RIVERS.length],
  goods: random.pick(GOODS),
}));

export interface PersonFacts {
  readonly name: string;
  readonly trade: string;
  readonly born: number;
  readonly died: number;
  readonly birthplace: string;
  readonly work: string;
}

export const PERSON_FACTS: readonly PersonFacts[] = PEOPLE.map((name) => {
  const born = random.between(1780, 1930);
  return {
    name,
    trade: random.pick(TRADES),
    born,
    died: born + random.between(45, 92),
    birthplace: random.pick(TOWNS),
    work: `The ${random.pick(['Silver', 'Hidden', 'Northern', 'Quiet'])} ${random.pick(['Atlas', 'Garden', 'Bridge', 'Hours'])}`,
  };
});

const withCommas = (number: number): string => String(number).replace(/\B(?=(\d{3})+$)/g, ',');

const provinceArticle = (facts: ProvinceFacts, index: number): Article => ({
  title: facts.name,
  text:
    `${facts.name} is one of the nine provinces of [[${COUNTRY}]]. Its capital is [[${facts.capital}]] and the river ` +
    `[[${facts.river}]] runs through it. It borders ${bordersOf(index)
      .map((other) => `[[${PROVINCES[other]}]]`)
      .join(', ')}. It is known for its ${facts.goods}.`,
  facts: [
    ['Capital', facts.capital],
    ['Population', withCommas(facts.population)],
    ['Founded', String(facts.founded)],
    ['Main export', facts.goods],
  ],
});

const townArticle = (facts: ProvinceFacts): Article => {
  const born = PERSON_FACTS.filter((person) => person.birthplace === facts.capital);
  const people = born.length === 0 ? '' : ` ${born.map((person) => `[[${person.name}]]`).join(', ')} came from here.`;
  return {
    title: facts.capital,
    text: `${facts.capital} is the capital of [[${facts.name}]]. It lies on the [[${facts.river}]].${people}`,
    facts: [
      ['Province', facts.name],
      ['River', facts.river],
    ],
  };
};

const riverArticle = (river: string): Article => {
  const along = PROVINCE_FACTS.filter((facts) => facts.river === river);
  const length = 90 + along.length * 61 + river.length;
  return {
    title: river,
    text: `The ${river} is a river in [[${COUNTRY}]]. It runs through ${along.map((facts) => `[[${facts.name}]]`).join(', ')}.`,
    facts: [
      ['Length', `${length} km`],
      ['Provinces', String(along.length)],
    ],
  };
};

const personArticle = (person: PersonFacts): Article => ({
  title: person.name,
  text: `${person.name} was a ${person.trade} from [[${person.birthplace}]], best known for ${person.work}.`,
  facts: [
    ['Born', String(person.born)],
    ['Died', String(person.died)],
    ['Birthplace', person.birthplace],
    ['Occupation', person.trade],
    ['Known for', person.work],
  ],
});

export const ARTICLES: readonly Article[] = [
  {
    title: COUNTRY,
    text: `${COUNTRY} is a country of nine provinces: ${PROVINCES.map((name) => `[[${name}]]`).join(', ')}.`,
    facts: [
      ['Provinces', '9'],
      ['Population', withCommas(PROVINCE_FACTS.reduce((sum, facts) => sum + facts.population, 0))],
    ],
  },
  ...PROVINCE_FACTS.map(provinceArticle),
  ...PROVINCE_FACTS.map(townArticle),
  ...RIVERS.map(riverArticle),
  ...PERSON_FACTS.map(personArticle),
];
