/**
 * @file A household room as a text game: a PDDL domain, a PDDL problem and a text grammar, written for these tests in the
 * form ALFWorld gives its own. Playing it must be the same as playing the room in our HouseholdWorld.
 */
import { canContain, type Goal, OBJECT_TYPES, type Room } from '../../../src/envs/household';
import type { GameFile } from '../../../src/envs/textworld';

export const DOMAIN = `
; A kitchen of a robot. What it can do is ALFWorld's, in our own words.
(define (domain chores)
  (:requirements :adl :typing)
  (:types agent location receptacle object rtype otype)
  (:predicates (atLocation ?a - agent ?l - location) (opened ?r - receptacle))
  (:functions (total-cost) - number)

  (:action look :parameters (?a - agent ?l - location) :precondition (atLocation ?a ?l) :effect (checked ?l))
  (:action inventory :parameters (?a - agent) :precondition () :effect (and))
  (:action help :parameters (?a - agent) :precondition () :effect (and))

  (:action GotoLocation
    :parameters (?a - agent ?lStart - location ?lEnd - location ?r - receptacle)
    :precondition (and (atLocation ?a ?lStart) (receptacleAtLocation ?r ?lEnd))
    :effect (and (not (atLocation ?a ?lStart)) (atLocation ?a ?lEnd) (increase (total-cost) 1)))

  (:action OpenObject
    :parameters (?a - agent ?l - location ?r - receptacle)
    :precondition (and (openable ?r) (atLocation ?a ?l) (receptacleAtLocation ?r ?l) (not (opened ?r)))
    :effect (opened ?r))
  (:action CloseObject
    :parameters (?a - agent ?l - location ?r - receptacle)
    :precondition (and (openable ?r) (atLocation ?a ?l) (receptacleAtLocation ?r ?l) (opened ?r))
    :effect (not (opened ?r)))

  (:action PickupObject
    :parameters (?a - agent ?l - location ?o - object ?r - receptacle)
    :precondition (and (pickupable ?o) (atLocation ?a ?l) (receptacleAtLocation ?r ?l) (inReceptacle ?o ?r)
      (not (holdsAny ?a)) (imply (openable ?r) (opened ?r)))
    :effect (and (not (inReceptacle ?o ?r)) (not (objectAtLocation ?o ?l)) (holds ?a ?o) (holdsAny ?a)))
  (:action PutObject
    :parameters (?a - agent ?l - location ?o - object ?r - receptacle ?ot - otype ?rt - rtype)
    :precondition (and (holds ?a ?o) (atLocation ?a ?l) (receptacleAtLocation ?r ?l)
      (or (not (openable ?r)) (opened ?r))
      (objectType ?o ?ot) (receptacleType ?r ?rt) (canContain ?rt ?ot))
    :effect (and (inReceptacle ?o ?r) (objectAtLocation ?o ?l) (not (holds ?a ?o)) (not (holdsAny ?a))))

  (:action CleanObject
    :parameters (?a - agent ?l - location ?r - receptacle ?o - object)
    :precondition (and (cleanable ?o) (or (receptacleType ?r SinkBasinType)) (atLocation ?a ?l)
      (receptacleAtLocation ?r ?l) (holds ?a ?o))
    :effect (isClean ?o))
  (:action HeatObject
    :parameters (?a - agent ?l - location ?r - receptacle ?o - object)
    :precondition (and (heatable ?o) (receptacleType ?r MicrowaveType) (atLocation ?a ?l)
      (receptacleAtLocation ?r ?l) (holds ?a ?o))
    :effect (and (isHot ?o) (not (isCool ?o))))
  (:action CoolObject
    :parameters (?a - agent ?l - location ?r - receptacle ?o - object)
    :precondition (and (coolable ?o) (receptacleType ?r FridgeType) (atLocation ?a ?l)
      (receptacleAtLocation ?r ?l) (holds ?a ?o))
    :effect (and (isCool ?o) (not (isHot ?o))))

  (:action ToggleObject
    :parameters (?a - agent ?l - location ?o - object ?r - receptacle)
    :precondition (and (toggleable ?o) (atLocation ?a ?l) (receptacleAtLocation ?r ?l) (inReceptacle ?o ?r))
    :effect (and (when (isOn ?o) (not (isOn ?o))) (when (not (isOn ?o)) (isOn ?o)) (isToggled ?o)))
  (:action SliceObject
    :parameters (?a - agent ?l - location ?co - object ?ko - object)
    :precondition (and (sliceable ?co) (or (objectType ?ko KnifeType) (objectType ?ko ButterKnifeType))
      (atLocation ?a ?l) (objectAtLocation ?co ?l) (holds ?a ?ko))
    :effect (isSliced ?co))

  (:action examineReceptacle
    :parameters (?a - agent ?r - receptacle)
    :precondition (exists (?l - location) (and (atLocation ?a ?l) (receptacleAtLocation ?r ?l)))
    :effect (checked ?r))
  (:action examineObject
    :parameters (?a - agent ?o - object)
    :precondition (or
      (exists (?l - location, ?r - receptacle)
        (and (atLocation ?a ?l) (receptacleAtLocation ?r ?l) (inReceptacle ?o ?r)
          (not (and (openable ?r) (not (opened ?r))))))
      (holds ?a ?o))
    :effect (checked ?o)))
`;

const rule = (name: string, ...lines: (string | [condition: string, rhs: string])[]) =>
  `"${name}": ${JSON.stringify(lines.map((line) => (typeof line === 'string' ? { rhs: line } : { condition: line[0], rhs: line[1] })))}`;

const HELP = [
  'look:                             look around your current location',
  'inventory:                        check your current inventory',
  'go to (receptacle):               move to a receptacle',
  'open (receptacle):                open a receptacle',
  'close (receptacle):               close a receptacle',
  'take (object) from (receptacle):  take an object from a receptacle',
  'move (object) to (receptacle):  place an object in or on a receptacle',
  'examine (something):              examine a receptacle or an object',
  'use (object):                     use an object',
  'heat (object) with (receptacle):  heat an object using a receptacle',
  'clean (object) with (receptacle): clean an object using a receptacle',
  'cool (object) with (receptacle):  cool an object using a receptacle',
  'slice (object) with (object):     slice an object using a sharp object',
];

const contents = "[{o.indefinite + ' ' + o.name | inreceptacle(o:object, r:receptacle)}]";
const adjectives = [
  ['isclean(o:object) & ishot(o:object) & issliced(o:object)', 'hot and clean sliced'],
  ['isclean(o:object) & iscool(o:object) & issliced(o:object)', 'cool and clean sliced'],
  ['isclean(o:object) & issliced(o:object)', 'clean sliced'],
  ['ishot(o:object) & issliced(o:object)', 'hot sliced'],
  ['iscool(o:object) & issliced(o:object)', 'cool sliced'],
  ['isclean(o:object) & ishot(o:object)', 'hot and clean'],
  ['isclean(o:object) & iscool(o:object)', 'cool and clean'],
  ['ishot(o:object)', 'hot'],
  ['isclean(o:object)', 'clean'],
  ['iscool(o:object)', 'cold'],
] as const;

/** The text grammar; `put` and `move` are ALFWorld's before and after version 0.4. */
export function grammarOf(putGrammar: 'put' | 'move', task: string): string {
  const place = putGrammar === 'put' ? ['put {o} in/on {r}', 'put', 'in/on'] : ['move {o} to {r}', 'move', 'to'];
  const action = (name: string, template: string, feedback: string, grammar = '') =>
    `action ${name} {\n  template :: "${template}";\n  feedback :: "#${feedback}#";\n${grammar === '' ? '' : `  grammar :: """ { ${grammar} } """;\n`}}\n`;
  return [
    `grammar :: """\n{\n${[
      rule('intro', '-= Welcome to TextWorld, ALFRED! =-\n\n#look.feedback#\n\nYour task is to: '.concat(task, '.')),
      rule('go', 'You arrive at {r.name}. #view#'),
      rule(
        'view',
        ['openable(r:receptacle) & opened(r:receptacle)', `The {r.name} is open. In it, you see ${contents}.`],
        ['openable(r:receptacle)', 'The {r.name} is closed.'],
        `On the {r.name}, you see ${contents}.`,
      ),
      rule(
        'thing',
        [
          'isreceptacleobject(o:object)',
          "This is a normal {o.name}. In it, you see [{i.indefinite + ' ' + i.name | inreceptacleobject(i:object, o:object)}].",
        ],
        ...adjectives.map(([when, how]): [string, string] => [when, `This is a ${how} {o.name}.`]),
        ['toggleable(o:object) & istoggled(o:object)', 'This {o.name} is on.'],
        ['toggleable(o:object) & not_istoggled(o:object)', 'This {o.name} is off.'],
        ['sliceable(o:object) & issliced(o:object)', 'This is a sliced {o.name}.'],
        "There's nothing special about {o.name}.",
      ),
      rule(
        'hands',
        ['holdsany(a:agent)', 'You are carrying: [{#a(o)# | holds(a:agent, o:object)}].'],
        'You are not carrying anything.',
      ),
      rule('a(o)', '{o.indefinite} {o.name}'),
      rule('list_empty', 'nothing'),
    ].join(',\n')}\n}\n""";`,
    action('GotoLocation', 'go to [{r.name | receptacleatlocation(r:receptacle, lend:location)}]', 'go'),
    action('OpenObject', 'open {r}', 'open', rule('open', 'You open the {r.name}. #view#')),
    action('CloseObject', 'close {r}', 'close', rule('close', 'You close the {r.name}.')),
    action('PickupObject', 'take {o} from {r}', 'take', rule('take', 'You pick up the {o.name} from the {r.name}.')),
    action('PutObject', place[0], 'place', rule('place', `You ${place[1]} the {o.name} ${place[2]} the {r.name}.`)),
    ...['clean', 'heat', 'cool'].map((verb) =>
      action(`${verb}Object`, `${verb} {o} with {r}`, verb, rule(verb, `You ${verb} the {o.name} using the {r.name}.`)),
    ),
    action(
      'ToggleObject',
      'use {o}',
      'use',
      rule(
        'use',
        ['toggleable(o:object) & istoggled(o:object)', 'You turn on the {o.name}.'],
        'You turn off the {o.name}.',
      ),
    ),
    action(
      'SliceObject',
      'slice {co} with {ko}',
      'slice',
      rule('slice', 'You sliced the {co.name} with the {ko.name}.'),
    ),
    action('inventory', 'inventory', 'hands'),
    action('examineReceptacle', 'examine {r}', 'view'),
    action('examineObject', 'examine {o}', 'thing'),
    action(
      'look',
      'look',
      'look.feedback',
      [
        rule(
          'look.feedback',
          [
            'atlocation(a:agent, l:location) & receptacleatlocation(r:receptacle, l:location)',
            '#facing#. Next to it, you see #beside#.',
          ],
          'You are in the middle of a room. Looking quickly around you, you see [{#a(r)# | receptacleatlocation(r:receptacle, l:location)}].',
        ),
        rule(
          'facing',
          'You are facing the [{r.name | atlocation(a:agent, l:location) & receptacleatlocation(r:receptacle, l:location)}]',
        ),
        rule(
          'beside',
          '[{#a(o)# | atlocation(a:agent, l:location) & objectatlocation(o:object, l:location) & receptacleatlocation(r:receptacle, l:location) & not_inreceptacle(o:object, r:receptacle)}]',
        ),
        rule('a(r)', '{r.indefinite} {r.name or r.id}'),
      ].join(',\n'),
    ),
    action(
      'help',
      'help',
      'help',
      rule('help', `\nAvailable commands:\n${HELP.map((line) => `  ${line}\n`).join('')}`),
    ),
  ].join('\n');
}

const typeName = (type: string) => `${type === 'sinkbasin' ? 'SinkBasin' : type}Type`;

/** `cup 1` of three cups -> `Cup_bar_02`: in the order of ids the numbers run down, as in ALFWorld's data. */
function idOf(name: string, names: readonly string[]): string {
  const [type, number] = name.split(' ');
  const count = names.filter((other) => other.startsWith(`${type} `)).length;
  const place = String(count - Number(number)).padStart(2, '0');
  return type === 'sinkbasin' ? `Sink_bar_${place}_bar_SinkBasin` : `${type}_bar__plus_${place}_dot_00`;
}

/** The room as a PDDL problem. Every receptacle has a place of its own, as in our rooms. */
export function problemOf(room: Room, goal: Goal): string {
  const receptacle = (r: number) => idOf(room.receptacleNames[r], room.receptacleNames);
  const object = (o: number) => idOf(room.objectNames[o], room.objectNames);
  const receptacleTypes = [...new Set(room.receptacleTypes)];
  const objectTypes = [...new Set([...room.objectTypes, 'knife', 'butterknife'])];
  const stations = ['sinkbasin', 'microwave', 'fridge'];
  const facts = [
    '(= (total-cost) 0)',
    '(atLocation agent1 loc_bar_0)',
    ...room.receptacleNames.flatMap((_, r) => [
      `(receptacleAtLocation ${receptacle(r)} loc_bar_${r + 1})`,
      `(receptacleType ${receptacle(r)} ${typeName(room.receptacleTypes[r])})`,
      room.openable[r] === 1 ? `(openable ${receptacle(r)})` : '',
    ]),
    ...room.objectNames.flatMap((_, o) => {
      const kind = OBJECT_TYPES.get(room.objectTypes[o])!;
      const flags = ['pickupable', 'cleanable', 'heatable', 'coolable', 'toggleable', 'sliceable'] as const;
      return [
        `(objectType ${object(o)} ${typeName(room.objectTypes[o])})`,
        `(inReceptacle ${object(o)} ${receptacle(room.startAt[o])})`,
        `(objectAtLocation ${object(o)} loc_bar_${room.startAt[o] + 1})`,
        ...flags.filter((flag) => kind[flag]).map((flag) => `(${flag} ${object(o)})`),
        kind.dish ? `(isReceptacleObject ${object(o)})` : '',
      ];
    }),
    ...receptacleTypes.flatMap((r) =>
      objectTypes.filter((o) => canContain(r, o)).map((o) => `(canContain ${typeName(r)} ${typeName(o)})`),
    ),
  ].filter((fact) => fact !== '');
  return `
(define (problem room)
  (:domain chores)
  (:objects
    agent1 - agent
    ${room.receptacleNames.map((_, r) => receptacle(r)).join(' ')} - receptacle
    ${room.objectNames.map((_, o) => object(o)).join(' ')} - object
    ${[...new Set([...receptacleTypes, ...stations])].map(typeName).join(' ')} - rtype
    ${objectTypes.map(typeName).join(' ')} - otype
    ${['', ...room.receptacleNames].map((_, l) => `loc_bar_${l}`).join(' ')} - location)
  (:init
    ${facts.join('\n    ')})
  (:goal ${goalOf(goal)})
  (:metric minimize (total-cost)))
`;
}

function goalOf(goal: Goal): string {
  const ofType = (variable: string) => `(objectType ${variable} ${typeName(goal.object)})`;
  const placed = (variable: string) => `(inReceptacle ${variable} ?r)`;
  const place = `(receptacleType ?r ${typeName(goal.receptacle ?? '')})`;
  const one = (flag = '') =>
    `(exists (?r - receptacle ?o - object) (and ${place} ${ofType('?o')} ${placed('?o')} ${flag}))`;
  switch (goal.family) {
    case 'pick_and_place_simple':
      return `(and ${one()})`;
    case 'pick_clean_then_place_in_recep':
      return one('(cleanable ?o) (isClean ?o)');
    case 'pick_heat_then_place_in_recep':
      return one('(isHot ?o)');
    case 'pick_cool_then_place_in_recep':
      return one('(isCool ?o)');
    case 'pick_two_obj_and_place':
      return `(exists (?r - receptacle) (and ${place} (exists (?o1 - object) (and ${ofType('?o1')} ${placed('?o1')}
        (exists (?o2 - object) (and (not (= ?o1 ?o2)) ${ofType('?o2')} ${placed('?o2')}))))))`;
    case 'look_at_obj_in_light':
      return `(and
        (exists (?lamp - object ?r - receptacle ?a - agent ?l - location)
          (and (objectType ?lamp ${typeName(goal.toggle ?? '')}) (isToggled ?lamp) (inReceptacle ?lamp ?r)
            (receptacleAtLocation ?r ?l) (atLocation ?a ?l)))
        (exists (?o - object ?a - agent) (and ${ofType('?o')} (holds ?a ?o))))`;
  }
}

export function householdGame(room: Room, goal: Goal, putGrammar: 'put' | 'move', task: string): GameFile {
  return { pddl_domain: DOMAIN, grammar: grammarOf(putGrammar, task), pddl_problem: problemOf(room, goal) };
}
