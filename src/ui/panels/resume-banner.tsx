/** @file An unfinished run of an earlier visit. */
import { resumeLast } from '../state/actions';
import { busy, lastRun } from '../state/trainer';
import { ago } from '../text/format';

export function ResumeBanner() {
  const last = lastRun.value;
  if (!last) return null;
  return (
    <section class="banner" aria-label="Unfinished run">
      <p>
        <strong>Your last run is not finished.</strong> It stopped after iteration {last.iteration} of{' '}
        {last.config.iterations} (seed {last.config.seed}), saved {ago(last.savedAt, Date.now())}.
      </p>
      <button type="button" id="resume-last" disabled={busy.value} onClick={resumeLast}>
        Resume last session
      </button>
      <button
        type="button"
        class="quiet"
        onClick={() => {
          lastRun.value = null;
        }}
      >
        Not now
      </button>
    </section>
  );
}
