/** @file Invented people: names, mail addresses and telephone numbers (555, which is never assigned). */
import { Random } from '../../household/random';

const FIRST =
  'Ada Bruno Clara Dario Elena Felix Greta Hugo Ines Jonas Kira Leon Mira Nils Olga Pavel Rosa Sven Tilda Ugo Vera Wim Yara Zeno'.split(
    ' ',
  );
const LAST =
  'Almas Brandt Corvin Dahl Ekström Fabre Garlan Holm Ibarra Jansky Kessler Lorne Marwick Novak Orsini Petrov Quill Ravn Sorel Thorne'.split(
    ' ',
  );

export interface Person {
  readonly id: number;
  readonly name: string;
  /** Short and unique: `ada.brandt`. */
  readonly user: string;
  readonly email: string;
  readonly phone: string;
}

/** `count` different people; the same seed gives the same people. */
export function people(count: number, seed: string): Person[] {
  const random = new Random(seed);
  const pairs: [string, string][] = [];
  for (const first of FIRST) for (const last of LAST) pairs.push([first, last]);
  return random
    .shuffle(pairs)
    .slice(0, count)
    .map(([first, last], index) => {
      const user = `${first}.${last}`
        .normalize('NFD')
        .replace(/[\u0300-\u036f]/g, '')
        .toLowerCase();
      const number = String(random.between(1000, 9999));
      return { id: index + 1, name: `${first} ${last}`, user, email: `${user}@mail.example`, phone: `555-01${number}` };
    });
}
