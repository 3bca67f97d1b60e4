/** @file Can the dream be believed? Alarms first, then the numbers in plain words, then its worst mistakes. */
import type { Trajectory } from '../../data/trajectory';
import { type FidelityFlag, type FidelitySummary, fidelityOf } from '../../dream/fidelity/summary';
import type { Evaluation, IterationMetrics, RunConfig } from '../../worker/protocol';
import { Icon } from '../panels/icon';
import { visible, visibleLine } from '../text/visible';
import './fidelity.css';
import { type FidelityValue, fidelityValues, sparkline } from './values';
import { difference, type Mistake, worstMistakes } from './worst';

interface Properties {
  metrics: readonly IterationMetrics[];
  evaluations: readonly Evaluation[];
  rollouts: ReadonlyMap<number, readonly Trajectory[]>;
  config: Pick<RunConfig, 'maxSteps'> | null;
}

/** Nothing for a run that never dreamed. */
export function FidelityPanel({ metrics, evaluations, rollouts, config }: Properties) {
  if (!config) return null;
  const summary = fidelityOf({ metrics, evaluations, config });
  if (!summary) return null;
  return (
    <section class="fidelity" aria-labelledby="fidelity-title">
      <h3 id="fidelity-title">Checked against the real world, iteration {summary.iteration}</h3>
      <Flags flags={summary.flags} summary={summary} />
      <dl class="fidelity-values">
        {fidelityValues(summary, metrics, config.maxSteps).map((value) => (
          <Value key={value.id} value={value} />
        ))}
      </dl>
      <Mistakes mistakes={worstMistakes(rollouts, summary.iteration)} />
    </section>
  );
}

function Flags({ flags, summary }: { flags: readonly FidelityFlag[]; summary: FidelitySummary }) {
  if (flags.length === 0)
    return (
      <p class="fidelity-fine" role="status">
        <Icon name="check" />
        {summary.firstAlarm === null
          ? 'No sign that the agent is fooling the dream.'
          : `No alarm now; there was one in ${summary.alarmedIterations} of the iterations so far, first in iteration ${summary.firstAlarm}.`}
      </p>
    );
  return (
    <div class="cards fidelity-flags">
      {flags.map(({ kind, level, message, advice }) => (
        <div
          key={kind}
          class={`card card-${level === 'alarm' ? 'error' : 'warning'}`}
          role={level === 'alarm' ? 'alert' : 'status'}
        >
          <Icon name="error" />
          <div>
            <p>
              <strong>{level === 'alarm' ? 'Do not believe this dream: ' : 'Look closer: '}</strong>
              {message}
            </p>
            <p class="advice">{advice}</p>
          </div>
        </div>
      ))}
    </div>
  );
}

const box = { width: 96, height: 24 };

function Value({ value: { label, help, text, course, top } }: { value: FidelityValue }) {
  return (
    <div class="fidelity-value">
      <dt>{label}</dt>
      <dd class="fidelity-number">
        {text ?? 'none'}
        {course.length > 1 && (
          <svg
            class="sparkline"
            viewBox={`0 -1 ${box.width} ${box.height + 2}`}
            width={box.width}
            height={box.height}
            preserveAspectRatio="none"
            aria-hidden="true"
          >
            {sparkline(course, top, box.width, box.height).map((points) => (
              <polyline key={points} points={points} />
            ))}
          </svg>
        )}
      </dd>
      <dd class="fidelity-help">{help}</dd>
    </div>
  );
}

const rewardWords = { invented: 'a success that is none', missed: 'a success that it missed' } as const;

function Mistakes({ mistakes }: { mistakes: readonly Mistake[] }) {
  if (mistakes.length === 0) return null;
  return (
    <details class="fidelity-mistakes">
      <summary>Where the dream was wrong: the worst of the newest episodes</summary>
      <p class="fidelity-help">
        <span class="only-dream">Violet and underlined</span> was only dreamed;{' '}
        <span class="only-real">green in brackets</span> is what the real world says instead.
      </p>
      <ol>
        {mistakes.map((mistake) => (
          <li key={`${mistake.iteration} ${mistake.action} ${mistake.dreamed}`}>
            <p class="fidelity-help">
              Iteration {mistake.iteration}, turn {mistake.turn} of “{visibleLine(mistake.instruction)}”
              {mistake.reward && <span class="tag tag-warn">{rewardWords[mistake.reward]}</span>}
            </p>
            <p class="action">{visible(mistake.action)}</p>
            <p class="observation">
              {difference(mistake.dreamed, mistake.real).map(({ text, of }, i) => (
                <Words key={i} text={text} of={of} />
              ))}
            </p>
          </li>
        ))}
      </ol>
    </details>
  );
}

function Words({ text, of }: { text: string; of: 'both' | 'dream' | 'real' }) {
  // The space stands outside, so that it is not underlined.
  if (of === 'both') return <span>{visible(text)} </span>;
  const marked =
    of === 'dream' ? <del class="only-dream">{visible(text)}</del> : <ins class="only-real">[{visible(text)}]</ins>;
  return <>{marked} </>;
}
