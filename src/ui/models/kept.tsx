/** @file Downloaded models that this browser keeps, and how to be rid of them. */
import { useEffect } from 'preact/hooks';
import { bytes } from '../text/format';
import { visibleLine } from '../text/visible';
import { kept, lookForKept, removeKept } from './choosing';
import { working } from './connection';
import { ProblemNote } from './problem-note';

export function Kept() {
  useEffect(() => void lookForKept(), []);
  if (kept.value.length === 0) return <ProblemNote place="kept" />;
  return (
    <div class="models-part">
      <h3>Downloaded models</h3>
      <ul class="kept">
        {kept.value.map(({ repository, bytes: size, complete }) => (
          <li key={repository}>
            <span>
              {visibleLine(repository, 100)}: {bytes(size)}
              {!complete && ' (not finished)'}
            </span>
            <button type="button" class="quiet" disabled={working.value} onClick={() => void removeKept(repository)}>
              Delete<span class="sr-only"> {visibleLine(repository, 100)}</span>
            </button>
          </li>
        ))}
      </ul>
      <ProblemNote place="kept" />
    </div>
  );
}
