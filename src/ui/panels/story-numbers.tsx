/** @file The whole experiment in three numbers: how good in the real world, how much was dreamed, how much real practice. */
import { story, view } from '../state/view';
import { count, interval, percent, points } from '../text/format';

export function StoryNumbers() {
  const { before, after, dreamedTransitions, realTransitions, dreamed } = story.value;
  const first = before?.atRolloutTemperature;
  const last = after?.atRolloutTemperature;
  return (
    <dl class="story">
      <div class="story-item tone-real">
        <dt>Real success</dt>
        <dd>
          {first ? percent(first.rate) : '–'}
          {last && (
            <>
              <span class="arrow" aria-hidden="true">
                {' → '}
              </span>
              <span class="sr-only">, now </span>
              {percent(last.rate)}
            </>
          )}
        </dd>
        <dd class="story-note">
          {first && last
            ? `${points(first.rate, last.rate)} (now ${interval(last)})`
            : first
              ? `before training (${interval(first)})`
              : 'on tasks the agent never saw'}
        </dd>
      </div>
      <div class="story-item tone-dream">
        <dt>Turns practised in the dream</dt>
        <dd>{count(dreamedTransitions)}</dd>
        <dd class="story-note">
          {dreamed ? 'imagined by a model on the GPU' : 'this run practises in the real world'}
        </dd>
      </div>
      <div class="story-item">
        <dt>Turns practised in reality</dt>
        <dd>{count(realTransitions)}</dd>
        <dd class="story-note">
          {realTransitions === 0
            ? view.value.kind === 'none'
              ? 'the real world only checks'
              : 'none: the real world only checks'
            : 'practice in the real world'}
        </dd>
      </div>
    </dl>
  );
}
