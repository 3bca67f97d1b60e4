/** @file Train the loaded model: the same loop as above on the page, with this model as policy. */
import { useEffect } from 'preact/hooks';
import type { LoadedFacts } from '../../worker/models/protocol';
import { phaseWords, whereIs } from '../state/progress';
import { duration, number, percent, rate } from '../text/format';
import { visible, visibleLine } from '../text/visible';
import { activity } from './connection';
import { ProblemNote } from './problem-note';
import { TrainForm } from './train-form';
import { exportRun, lastTraining, lookForLastTraining, pause, resume, sending, start, step, stop } from './training';
import { runEvaluations, runMetrics, runNotices, runProgress, training, trainingPaused } from './training-state';

export function TrainPart({ loaded }: { loaded: LoadedFacts }) {
  useEffect(() => void lookForLastTraining(), []);
  const able = loaded.hasChatTemplate;
  return (
    <div class="models-part train">
      <h3>Train this model</h3>
      <p class="panel-about">
        The loop of this page with the loaded model as agent: an adapter over it learns household tasks in words, and
        the same model without the adapter dreams, unless you choose another. It takes a context of 1,024 tokens or
        more.
      </p>
      {able ? (
        <>
          {!training.value && <TrainForm hasAdapter={loaded.adapter !== null} />}
          <Controls />
          <RunLine />
          <ProblemNote place="train" />
          {runNotices.value.map((notice, i) => (
            <p key={i} class="notice">
              {visible(notice)}
            </p>
          ))}
          <Results />
        </>
      ) : (
        <p class="field-help">This model has no chat template, so it cannot be told what it sees.</p>
      )}
    </div>
  );
}

function Controls() {
  const busy = sending.value || activity.value !== null;
  const under = training.value;
  const paused = trainingPaused.value;
  const last = lastTraining.value;
  return (
    <p class="button-row">
      {!under && (
        <button type="button" class="primary" disabled={busy} onClick={() => void start()}>
          Start training
        </button>
      )}
      {under && (
        <button type="button" class="primary" disabled={busy} onClick={() => void (paused ? resume() : pause())}>
          {paused ? 'Resume training' : 'Pause training'}
        </button>
      )}
      {!under && last && (
        <button type="button" disabled={busy} onClick={() => void resume()}>
          Resume the kept run after iteration {last.iteration} of {last.config.iterations}
        </button>
      )}
      <button type="button" disabled={busy || (under && !paused)} onClick={() => void step()}>
        One iteration
      </button>
      <button type="button" disabled={!under || sending.value} onClick={() => void stop()}>
        Stop training
      </button>
      <button type="button" disabled={busy || runEvaluations.value.length === 0} onClick={() => void exportRun()}>
        Export the run
      </button>
    </p>
  );
}

function RunLine() {
  const now = runProgress.value;
  if (now.phase === 'idle') return null;
  const { current, share } = whereIs(now);
  return (
    <div class="load-progress">
      <p>
        <strong>{phaseWords[now.phase]}</strong>
        {now.iterations > 0 && `, iteration ${current} of ${now.iterations}`}
        {now.secondsLeft !== null && training.value && `, about ${duration(now.secondsLeft)} left`}
      </p>
      <progress max={1} value={now.iterations > 0 ? share : now.fraction} aria-label="Progress of the training" />
      {now.detail && <p class="field-help">{visibleLine(now.detail, 160)}</p>}
    </div>
  );
}

function Results() {
  const metrics = runMetrics.value;
  const first = runEvaluations.value.at(0);
  const latest = runEvaluations.value.at(-1);
  if (!first || !latest) return null;
  return (
    <>
      <p>
        Real success on tasks never trained on: <strong>{rate(first.atRolloutTemperature)}</strong> at the start
        {latest !== first && (
          <>
            , <strong>{rate(latest.atRolloutTemperature)}</strong> after iteration {latest.iteration}
          </>
        )}
        .
      </p>
      {metrics.length > 0 && (
        <div class="table-scroll">
          <table class="run-table">
            <caption class="sr-only">What each iteration brought</caption>
            <thead>
              <tr>
                {['Iteration', 'Reward', 'Loss', 'Gradient', 'Valid actions', 'Unreadable', 'Time'].map((title) => (
                  <th key={title} scope="col">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {metrics.map((m) => (
                <tr key={m.iteration}>
                  <th scope="row">{m.iteration}</th>
                  <td class="num">{percent(m.trainReward)}</td>
                  <td class="num">{number(m.loss)}</td>
                  <td class="num">{number(m.gradNorm)}</td>
                  <td class="num">{percent(m.validActionRate)}</td>
                  <td class="num">{(m.malformedActions ?? 0) + m.malformed}</td>
                  <td class="num">{duration(m.seconds)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
