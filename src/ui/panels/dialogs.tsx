/** @file Help with the keys, and the one question that cannot be undone. */
import { useEffect, useRef } from 'preact/hooks';
import { hideable } from '../settings/link';
import { asking, deleteEverythingNow, resetNow } from '../state/actions';

const keys: readonly (readonly [key: string, meaning: string])[] = [
  ['Space', 'start, pause, go on'],
  ['.', 'one iteration, then pause'],
  ['r', 'reset: throw the run away (asks first)'],
  ['← →', 'previous and next rollout'],
  ['?', 'this help'],
];

function close(): void {
  asking.value = null;
}

export function Dialogs() {
  const help = useRef<HTMLDialogElement>(null);
  const reset = useRef<HTMLDialogElement>(null);
  const everything = useRef<HTMLDialogElement>(null);
  const open = asking.value;
  useEffect(() => {
    for (const [name, element] of [
      ['help', help.current],
      ['reset', reset.current],
      ['delete-everything', everything.current],
    ] as const) {
      if (open === name && !element?.open) element?.showModal();
      if (open !== name && element?.open) element.close();
    }
  }, [open]);
  return (
    <>
      <dialog ref={help} aria-labelledby="help-title" onClose={close}>
        <div class="dialog-body">
          <h2 id="help-title">Help</h2>
          <p>
            Press <strong>Start</strong> and a small language-model agent trains on your own graphics processor. All its
            practice is imagined by a second model; the exact household world is only used to check how good it really
            is.
          </p>
          <ul class="help-list">
            <li>
              <strong>Violet</strong> is imagined, <strong>green</strong> is real; the words “imagined” and “real”
              always stand beside the colour.
            </li>
            <li>Click a point in any chart to see the rollouts of that iteration.</li>
            <li>The page’s address holds the seed and all changed settings: copy it to share a run.</li>
            <li>
              For a lesson, add <code>&amp;hide=settings,memory</code> to the link. What can be hidden:{' '}
              {hideable.join(', ')}.
            </li>
            <li>
              Nothing is sent anywhere: the page talks only to the place it was loaded from, unless you ask for a model
              of the hub or for an endpoint under Models.
            </li>
          </ul>
          <table class="keys">
            <caption>Keys</caption>
            <tbody>
              {keys.map(([key, meaning]) => (
                <tr key={key}>
                  <th scope="row">
                    <kbd>{key}</kbd>
                  </th>
                  <td>{meaning}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <div class="dialog-actions">
            <button type="button" class="primary" onClick={close}>
              Close
            </button>
          </div>
        </div>
      </dialog>
      <dialog ref={reset} aria-labelledby="reset-title" onClose={close}>
        <div class="dialog-body">
          <h2 id="reset-title">Throw this run away?</h2>
          <p>The trained weights, the memory and the curves of this run are deleted. Export it first to keep them.</p>
          <div class="dialog-actions">
            <button type="button" onClick={close}>
              Keep it
            </button>
            <button type="button" class="danger" onClick={resetNow}>
              Throw it away
            </button>
          </div>
        </div>
      </dialog>
      <dialog ref={everything} aria-labelledby="everything-title" onClose={close}>
        <div class="dialog-body">
          <h2 id="everything-title">Delete all runs?</h2>
          <p>Every run kept in this browser is deleted, and the one under way is stopped. Exported files stay yours.</p>
          <div class="dialog-actions">
            <button type="button" onClick={close}>
              Keep them
            </button>
            <button type="button" class="danger" onClick={deleteEverythingNow}>
              Delete all
            </button>
          </div>
        </div>
      </dialog>
    </>
  );
}
