/** @file A failure told where it happened, in the page's own card. */
import { Icon } from '../panels/icon';
import { visible, visibleLine } from '../text/visible';
import { clearProblem, problem } from './connection';
import type { Place } from './problems';

export function ProblemNote({ place }: { place: Place }) {
  const found = problem.value;
  if (found?.place !== place) return null;
  const { level, title, text, advice } = found.card;
  return (
    <section class={`card card-${level}`} role={level === 'error' ? 'alert' : undefined} aria-label={title}>
      <Icon name="error" />
      <div>
        <h4>{visibleLine(title)}</h4>
        <p>{visible(text)}</p>
        {advice.map((line) => (
          <p key={line} class="advice">
            {visible(line)}
          </p>
        ))}
      </div>
      <button type="button" class="icon-button small" onClick={() => clearProblem(place)}>
        <Icon name="close" label={`Close: ${title}`} />
      </button>
    </section>
  );
}
