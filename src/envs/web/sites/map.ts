/** @file The map: search, places, directions, what is near, saved places. */
import { h } from '../nodes';
import { href, type Notice, noticeFor, type Page, type Request, type Site } from '../site';
import {
  button,
  choice,
  type Frame,
  facts,
  field,
  form,
  frame,
  hidden,
  link,
  mentions,
  notFound,
  pageLinks,
  post,
  slice,
  table,
} from './layout';
import {
  addressOf,
  CITY,
  coordinatesOf,
  distanceOf,
  KINDS,
  kilometres,
  MODES,
  type Mode,
  minutesOf,
  nearest,
  PLACES,
  type Place,
  placeNamed,
} from './map-data';
import { partSite } from './part-site';

export const MAP_HOST = 'map.example';

export interface MapState {
  readonly saved: readonly number[];
  /** Place id -> the user's note. */
  readonly notes: Readonly<Record<number, string>>;
  readonly notice: Notice | null;
}

export const initialMap = (): MapState => ({ saved: [], notes: {}, notice: null });

const frameOf = (state: MapState, request: Request): Frame => ({
  site: `Open Chart of ${CITY}`,
  links: [
    ['Directions', '/directions'],
    ['Saved places', '/saved'],
  ],
  search: { action: '/search', label: 'Search places', value: request.path === '/search' ? request.query.q : '' },
  notice: noticeFor(state.notice, request),
});

const placeLink = (place: Place) => link(place.name, `/place/${place.id}`);

function placePage(state: MapState, request: Request, place: Place): Page {
  const saved = state.saved.includes(place.id);
  return frame(
    frameOf(state, request),
    place.name,
    facts([
      ['Kind', place.kind],
      ['Address', h('span', { class: 'address' }, addressOf(place))],
      ['Telephone', place.phone],
      ['Open', place.hours],
      ['Coordinates', coordinatesOf(place)],
      ['Note', h('span', { class: 'note' }, state.notes[place.id] ?? 'none')],
    ]),
    post('/save', saved ? 'Remove from saved places' : 'Save place', { place: place.id }),
    form(
      { action: '/note', method: 'post' },
      hidden('place', place.id),
      field('Your note', 'text', state.notes[place.id] ?? ''),
      button('Save note'),
    ),
    link('Directions from here', href('/directions', { from: place.name })),
    link('Directions to here', href('/directions', { to: place.name })),
    form(
      { action: '/nearby', method: 'get' },
      hidden('to', place.name),
      choice(
        'Find near here',
        'kind',
        KINDS.map((kind) => [kind, kind] as const),
        KINDS[0],
      ),
      button('Find'),
    ),
  );
}

function directions(state: MapState, request: Request): Page {
  const { from = '', to = '' } = request.query;
  const mode: Mode = MODES.find((name) => name === request.query.mode) ?? 'walk';
  const [start, end] = [placeNamed(from), placeNamed(to)];
  const asked = from !== '' && to !== '';
  return frame(
    frameOf(state, request),
    'Directions',
    form(
      { action: '/directions', method: 'get' },
      field('From', 'from', from, { required: true }),
      field('To', 'to', to, { required: true }),
      choice(
        'By',
        'mode',
        [
          ['walk', 'Walking'],
          ['bike', 'Bicycle'],
          ['drive', 'Car'],
        ],
        mode,
      ),
      button('Find route'),
    ),
    asked && start === undefined && h('p', { role: 'alert' }, `No place is called "${from}".`),
    asked && end === undefined && h('p', { role: 'alert' }, `No place is called "${to}".`),
    start !== undefined &&
      end !== undefined &&
      facts(
        [
          ['Distance', h('span', { class: 'distance' }, kilometres(distanceOf(start, end, mode)))],
          ['Time', h('span', { class: 'time' }, `${minutesOf(start, end, mode)} min`)],
        ],
        { class: 'route' },
      ),
  );
}

function pageAt(state: MapState, request: Request): Page {
  const shown = frameOf(state, request);
  const [head, id] = request.segments;
  const place = PLACES.find((each) => String(each.id) === id);
  switch (head) {
    case undefined:
      return frame(
        shown,
        CITY,
        h('p', null, 'Search for a place by its name, kind, street or postcode.'),
        h(
          'ul',
          null,
          KINDS.map((kind) => h('li', null, link(`All of kind ${kind}`, href('/search', { q: kind })))),
        ),
      );
    case 'search': {
      const query = request.query.q ?? '';
      const found = PLACES.filter((each) => mentions(`${each.name} ${each.kind} ${addressOf(each)}`, query));
      const part = slice(found, request.query.p, 10);
      return frame(
        shown,
        `Places for "${query}"`,
        h('p', null, `${found.length} places found`),
        table(
          ['Place', 'Kind', 'Address'],
          part.items.map((each) => [placeLink(each), each.kind, addressOf(each)]),
        ),
        pageLinks(part, '/search', { q: query }),
      );
    }
    case 'place':
      return place === undefined ? notFound(shown) : placePage(state, request, place);
    case 'directions':
      return directions(state, request);
    case 'nearby': {
      const { to = '', kind = '' } = request.query;
      const centre = placeNamed(to);
      if (centre === undefined) return notFound(shown);
      return frame(
        shown,
        `${kind} near ${centre.name}`,
        table(
          ['Place', 'Address', 'Walking distance', 'Walking time'],
          nearest(centre, kind).map((each) => [
            placeLink(each),
            addressOf(each),
            kilometres(distanceOf(centre, each, 'walk')),
            `${minutesOf(centre, each, 'walk')} min`,
          ]),
        ),
      );
    }
    case 'saved':
      return frame(
        shown,
        'Saved places',
        h(
          'ul',
          { class: 'saved' },
          state.saved.map((saved) => h('li', null, placeLink(PLACES[saved - 1]))),
        ),
        state.saved.length === 0 && h('p', null, 'Nothing is saved yet.'),
      );
    default:
      return notFound(shown);
  }
}

function change(state: MapState, request: Request): { map: MapState; redirect: string } {
  const place = PLACES.find((each) => String(each.id) === request.form.place);
  if (place === undefined) return { map: state, redirect: '/' };
  const redirect = `/place/${place.id}`;
  if (request.path === '/save') {
    const saved = state.saved.includes(place.id)
      ? state.saved.filter((id) => id !== place.id)
      : [...state.saved, place.id];
    return { map: { ...state, saved, notice: { path: redirect, text: 'Your saved places are updated.' } }, redirect };
  }
  if (request.path === '/note') {
    const notes = { ...state.notes, [place.id]: (request.form.text ?? '').trim() };
    return { map: { ...state, notes, notice: { path: redirect, text: 'Your note is saved.' } }, redirect };
  }
  return { map: state, redirect };
}

export const map: Site = partSite({ name: 'map', host: MAP_HOST, part: 'map', change, pageAt });
