/** @file The task pool: which tasks there are, where they came from, and which are worth practising. */
import { computed, signal } from '@preact/signals';
import type { PoolTask } from '../../worker/protocol';
import { sparkline } from '../fidelity/values';
import { trainer } from '../state/trainer';
import { shown, view } from '../state/view';
import { number, percent, plural } from '../text/format';
import { visibleLine } from '../text/visible';

type Sort = 'variance' | 'visits' | 'success' | 'newest';

const origin = signal<'all' | 'given' | 'generated'>('all');
const search = signal('');
const sort = signal<Sort>('variance');
/** A table of thousands helps nobody. */
const mostRows = 200;

const order: Record<Sort, (task: PoolTask) => number> = {
  variance: (task) => task.variance ?? -1,
  visits: (task) => task.visits,
  success: (task) => task.lastSuccess ?? -1,
  newest: (task) => (task.generated ? 1 : 0),
};

const found = computed(() => {
  const needle = search.value.trim().toLowerCase();
  const rank = order[sort.value];
  return view.value.tasks
    .filter((task) => origin.value === 'all' || task.generated === (origin.value === 'generated'))
    .filter((task) => needle === '' || `${task.instruction} ${task.room}`.toLowerCase().includes(needle))
    .sort((a, b) => rank(b) - rank(a));
});

/** Groups of rollouts that all tasks had together. */
const allVisits = computed(() => view.value.tasks.reduce((sum, task) => sum + task.visits, 0));

/** Reads the live pool anew; called when an iteration ends while the panel is open. */
export async function refreshTasks(): Promise<void> {
  if (view.value.kind !== 'live') return;
  try {
    const tasks = await (await trainer()).tasks();
    if (view.value.kind === 'live') view.value = { ...view.value, tasks };
  } catch {
    // Before the model is loaded there is no pool; the next iteration asks again.
  }
}

export function TaskPool() {
  const list = found.value;
  const generated = view.value.tasks.filter((task) => task.generated).length;
  return (
    <div class="browser">
      <p class="panel-about">
        Tasks the agent may practise. The most useful ones succeed about half the time (variance 0.25); from those the
        model invents new ones. Share is a task’s part of all practice so far. {plural(view.value.tasks.length, 'task')}
        , {generated} of them invented.
      </p>
      <div class="picker">
        <label class="field-inline">
          <span>Origin</span>
          <select
            value={origin.value}
            onChange={(event) => {
              origin.value = event.currentTarget.value as typeof origin.value;
            }}
          >
            <option value="all">all</option>
            <option value="given">given</option>
            <option value="generated">invented</option>
          </select>
        </label>
        <label class="field-inline">
          <span>Sort by</span>
          <select
            value={sort.value}
            onChange={(event) => {
              sort.value = event.currentTarget.value as Sort;
            }}
          >
            <option value="variance">variance</option>
            <option value="visits">visits</option>
            <option value="success">last success</option>
            <option value="newest">invented first</option>
          </select>
        </label>
        <label class="field-inline grow">
          <span class="sr-only">Search tasks</span>
          <input
            type="search"
            placeholder="search tasks"
            value={search.value}
            onInput={(event) => {
              search.value = event.currentTarget.value.slice(0, 200);
            }}
          />
        </label>
      </div>
      {list.length === 0 ? (
        <p class="empty">{view.value.tasks.length === 0 ? 'The pool is filled when a run starts.' : 'No task fits.'}</p>
      ) : (
        <>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable to be scrolled by keyboard. */}
          <section class="scroll tall" tabIndex={0} aria-label="Task pool">
            <table>
              <thead>
                <tr>
                  <th scope="col">Task</th>
                  <th scope="col">Room</th>
                  <th scope="col">Origin</th>
                  <th scope="col">Parent</th>
                  <th scope="col" class="num">
                    Visits
                  </th>
                  <th scope="col" class="num">
                    Share
                  </th>
                  <th scope="col" class="num">
                    Last success
                  </th>
                  <th scope="col" class="num">
                    Variance
                  </th>
                  <th scope="col">Over time</th>
                </tr>
              </thead>
              <tbody>
                {list.slice(0, mostRows).map((task) => (
                  <tr key={task.id}>
                    <th scope="row" class="words">
                      {visibleLine(task.instruction)}
                    </th>
                    <td class="nowrap">{visibleLine(task.room, 40)}</td>
                    <td>
                      <span class={task.generated ? 'tag tag-imagined' : 'tag'}>
                        {task.generated ? 'invented' : 'given'}
                      </span>
                    </td>
                    <td class="words">{task.parent === null ? '–' : visibleLine(task.parent, 60)}</td>
                    <td class="num">{task.visits}</td>
                    <td class="num">{task.visits === 0 ? '–' : percent(task.visits / allVisits.value)}</td>
                    <td class="num">{task.lastSuccess === null ? '–' : percent(task.lastSuccess)}</td>
                    <td class="num">{task.variance === null ? '–' : number(task.variance)}</td>
                    <td>
                      <Course task={task} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
          {list.length > mostRows && (
            <p class="panel-about">
              The first {mostRows} of {list.length}; search to see others.
            </p>
          )}
        </>
      )}
    </div>
  );
}

const box = { width: 72, height: 18 };
/** p(1-p) at p = 1/2. */
const highestVariance = 0.25;

/** How a task's variance went from visit to visit: a curve for the eye, a sentence for whoever cannot see it. */
function Course({ task }: { task: PoolTask }) {
  const visits = (task.history ?? []).filter(({ iteration }) => iteration <= shown.value);
  const first = visits[0];
  const last = visits.at(-1);
  if (!first || !last) return <>–</>;
  if (visits.length === 1) return <span class="nowrap">once, in {first.iteration}</span>;
  const most = Math.max(...visits.map(({ variance }) => variance));
  const course = visits.map(({ variance }) => variance);
  return (
    <>
      <svg
        class="sparkline"
        viewBox={`0 -1 ${box.width} ${box.height + 2}`}
        width={box.width}
        height={box.height}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {sparkline(course, highestVariance, box.width, box.height).map((points) => (
          <polyline key={points} points={points} />
        ))}
      </svg>
      <span class="sr-only">
        {plural(visits.length, 'visit')}: variance {number(first.variance)} in iteration {first.iteration},{' '}
        {number(last.variance)} in iteration {last.iteration}, at most {number(most)}
      </span>
    </>
  );
}
