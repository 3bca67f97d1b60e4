/** @file What this page keeps on the visitor's machine, and how to be rid of it. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { StorageReport, StoredRunInfo } from '../../worker/protocol';
import { asking, storageChanges } from '../state/actions';
import { machine } from '../state/preflight';
import { active, deleteRun, storageReport } from '../state/trainer';
import { lastIteration, view } from '../state/view';
import { ago, bytes, percent } from '../text/format';
import { visibleLine } from '../text/visible';

const report = signal<StorageReport | null>(null);

const phaseWords: Record<StoredRunInfo['phase'], string> = {
  running: 'not finished',
  stopped: 'stopped',
  finished: 'finished',
  collapsed: 'stopped: the dream became wishful',
};

async function look(): Promise<void> {
  try {
    report.value = await storageReport();
  } catch {
    report.value = null;
  }
}

export function Storage() {
  const blocked = machine.value.state === 'blocked';
  const changes = storageChanges.value;
  const iteration = lastIteration.value;
  // A finished iteration and a deletion change the answer.
  useEffect(() => {
    if (!blocked) void look();
  }, [blocked, changes, iteration]);
  const found = report.value;
  return (
    <div class="browser">
      <p class="panel-about">
        Runs are kept in this browser only, so that a reload loses nothing. {found && <Usage report={found} />}
      </p>
      {!found || found.runs.length === 0 ? (
        <p class="empty">No run is kept here.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable to be scrolled by keyboard.
        <section class="scroll tall" tabIndex={0} aria-label="Runs kept in this browser">
          <table>
            <thead>
              <tr>
                <th scope="col">Run</th>
                <th scope="col">Saved</th>
                <th scope="col">State</th>
                <th scope="col" class="num">
                  Iterations
                </th>
                <th scope="col">
                  <span class="sr-only">Delete</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {found.runs.map((run) => (
                <RunRow key={run.runId} run={run} />
              ))}
            </tbody>
          </table>
        </section>
      )}
      {found && found.runs.length > 0 && (
        <p>
          <button
            type="button"
            class="danger"
            onClick={() => {
              asking.value = 'delete-everything';
            }}
          >
            Delete everything
          </button>
        </p>
      )}
    </div>
  );
}

function RunRow({ run }: { run: StoredRunInfo }) {
  const { runId, savedAt, phase, iteration, config } = run;
  const current = active.value && view.value.runId === runId;
  const name = `${config.preset}, seed ${config.seed}`;
  return (
    <tr>
      <th scope="row">{visibleLine(name, 80)}</th>
      <td>{ago(savedAt, Date.now())}</td>
      <td>{current ? 'going on' : phaseWords[phase]}</td>
      <td class="num">
        {iteration} of {config.iterations}
      </td>
      <td class="num">
        <button
          type="button"
          class="quiet"
          disabled={current}
          onClick={() => {
            void deleteRun(runId)
              .catch(() => {})
              .then(() => {
                storageChanges.value++;
              });
          }}
        >
          Delete<span class="sr-only"> {name}</span>
        </button>
      </td>
    </tr>
  );
}

function Usage({ report: { kept, usageBytes, quotaBytes, persisted } }: { report: StorageReport }) {
  if (kept === 'memory') return <>The browser refuses to keep anything, so runs live only in this tab.</>;
  if (usageBytes === null || quotaBytes === null) return null;
  return (
    <>
      {bytes(usageBytes)} of {bytes(quotaBytes)} are used ({percent(usageBytes / quotaBytes)}).{' '}
      {persisted
        ? 'The browser has promised to keep them.'
        : 'The browser may delete them when the disk is full: export what you want to keep.'}
    </>
  );
}
