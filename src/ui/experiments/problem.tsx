/** @file What stands in the way of an experiment, in the page's own card. */
import type { TypedError } from '../../worker/protocol';
import { errorCard } from '../messages/texts';
import { Icon } from '../panels/icon';
import { visible } from '../text/visible';
import { problem } from './state';

const titles: Readonly<Record<string, string>> = {
  'bad-experiment': 'This experiment cannot be read',
  'config-invalid': 'This experiment’s settings cannot be used',
  busy: 'Not now',
};

export function Problem({ found }: { found: TypedError }) {
  const title = titles[found.code] ?? errorCard(found).title;
  return (
    <section class="card card-error" role="alert" aria-label={title}>
      <Icon name="error" />
      <div>
        <h3>{title}</h3>
        <p>{visible(found.message)}</p>
        {found.advice && <p class="advice">{visible(found.advice)}</p>}
      </div>
      <button
        type="button"
        class="icon-button small"
        onClick={() => {
          problem.value = null;
        }}
      >
        <Icon name="close" label={`Close: ${title}`} />
      </button>
    </section>
  );
}
