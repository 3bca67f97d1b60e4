/** @file Bringing trajectories: any format, with progress, a report of what was kept and what was not, and a file to train on. */
import { plural } from '../text/format';
import { visible, visibleLine } from '../text/visible';
import { cancelImport, imported, importFile, importing, importProblem, saveImported } from './importing';

const reasonsShown = 20;

export function ImportPart() {
  const now = importing.value;
  const share = now?.progress && now.size > 0 ? now.progress.bytes / now.size : 0;
  return (
    <div class="worlds-part">
      <h3>Bring trajectories</h3>
      <p class="panel-about">
        OpenAI messages, ShareGPT, AgentGym, ReAct, ADaPT, WebShop and WebArena logs, ATIF; JSON, JSONL, text, .gz or
        .zip. The file is read here and goes nowhere.
      </p>
      <label class="import-file">
        File of trajectories{' '}
        <input
          type="file"
          disabled={now !== null}
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? [];
            event.currentTarget.value = '';
            if (file) void importFile(file);
          }}
        />
      </label>
      {now && (
        <div>
          <label>
            Reading {visibleLine(now.name)}
            <progress max={1} value={share} />
          </label>
          <p>
            {plural(now.progress?.episodes ?? 0, 'episode')}, {now.progress?.dropped ?? 0} dropped
          </p>
          <button type="button" onClick={cancelImport}>
            Cancel
          </button>
        </div>
      )}
      {importProblem.value && (
        <p class="problem" role="alert">
          {visible(importProblem.value.message)} {visible(importProblem.value.advice)}
        </p>
      )}
      {imported.value && <Report />}
    </div>
  );
}

function Report() {
  const found = imported.value;
  if (!found) return null;
  const { report, name } = found;
  const { kept, dropped, droppedTotal } = report;
  const reasons = new Map<string, { count: number; first: string }>();
  for (const { where, why } of dropped) {
    const known = reasons.get(why);
    if (known) known.count++;
    else reasons.set(why, { count: 1, first: where });
  }
  return (
    <div role="status">
      <p>
        {visibleLine(name)} ({report.formats.join(', ')}): {plural(report.episodes, 'episode')} kept, {kept.successes}{' '}
        of them successes, {kept.failures} failures, {kept.unknownOutcomes} of unknown outcome;{' '}
        {plural(kept.turns, 'turn')}, {plural(report.transitions, 'transition')}.
      </p>
      {Object.entries(report.withoutTransition).map(([why, count]) => (
        <p key={why}>
          {plural(count, 'turn')} without a transition: {visibleLine(why)}.
        </p>
      ))}
      <p>{droppedTotal === 0 ? 'Nothing was dropped.' : `${plural(droppedTotal, 'thing')} dropped:`}</p>
      {reasons.size > 0 && (
        <ul class="import-dropped">
          {[...reasons].slice(0, reasonsShown).map(([why, { count, first }]) => (
            <li key={why}>
              {visible(why, 300)} ({count}, first at {visibleLine(first, 120)})
            </li>
          ))}
        </ul>
      )}
      <div class="button-row">
        <button type="button" onClick={saveImported} disabled={report.episodes === 0}>
          Save as memories (JSONL)
        </button>
      </div>
      <p class="field-help">
        The page does not keep them. In the terminal <code>dream train --env … --memories FILE.jsonl</code> puts them
        into the replay buffer.
      </p>
    </div>
  );
}
