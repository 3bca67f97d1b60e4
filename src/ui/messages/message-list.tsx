/** @file The cards, and the quiet sentence for screen readers. */
import { Icon } from '../panels/icon';
import { announcement, cards, dismiss } from '../state/messages';
import { visible, visibleLine } from '../text/visible';
import type { Level } from './texts';

/** Errors stand above everything; warnings and news stand beside the controls, where the reader is about to press. */
export function MessageList({ levels }: { levels: readonly Level[] }) {
  const shown = cards.value.filter(({ level }) => levels.includes(level));
  if (shown.length === 0) return null;
  return (
    <div class="cards">
      {shown.map(({ id, level, title, text, advice }) => (
        <section
          key={id}
          class={`card card-${level}`}
          role={level === 'error' ? 'alert' : undefined}
          aria-label={title}
        >
          <Icon name="error" />
          <div>
            <h2>{visibleLine(title)}</h2>
            <p>{visible(text)}</p>
            {advice.length === 1 && <p class="advice">{visible(advice[0])}</p>}
            {advice.length > 1 && (
              <ul class="advice">
                {advice.map((line) => (
                  <li key={line}>{visible(line)}</li>
                ))}
              </ul>
            )}
          </div>
          <button type="button" class="icon-button small" onClick={() => dismiss(id)}>
            <Icon name="close" label={`Close: ${title}`} />
          </button>
        </section>
      ))}
    </div>
  );
}

export function Announcer() {
  return (
    <p class="sr-only" role="status" aria-live="polite">
      {announcement.value}
    </p>
  );
}
