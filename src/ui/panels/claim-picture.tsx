/** @file The claim as a picture: the agent and the dream talk all the time, the real world only looks in. */
import { progress, running } from '../state/trainer';
import { practice } from '../state/view';

export function ClaimPicture() {
  const phase = running.value ? progress.value.phase : null;
  if (practice.value === 'real') return null;
  const mixed = practice.value === 'mixed';
  return (
    <div
      class="claim"
      role="img"
      aria-label={`The agent acts and the dream answers, again and again. The real world ${mixed ? 'checks, and gives a little practice' : 'only checks'}.`}
    >
      <div class={phase === 'learning' ? 'claim-box agent now' : 'claim-box agent'}>
        <strong>Agent</strong>
        <span>reads, thinks, acts, learns</span>
      </div>
      <div class={phase === 'rolling-out' ? 'claim-link dream now' : 'claim-link dream'}>
        <span>acts</span>
        <svg viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
          <path d="M2 7H97M91 2l6 5-6 5M98 17H3M9 12l-6 5 6 5" vector-effect="non-scaling-stroke" />
        </svg>
        <span>imagines what happens</span>
      </div>
      <div class={phase === 'rolling-out' ? 'claim-box dream now' : 'claim-box dream'}>
        <strong>Dream</strong>
        <span>a model with a memory</span>
      </div>
      <div class={phase === 'evaluating' ? 'claim-link real now' : 'claim-link real'}>
        <span>{mixed ? 'checks, little practice' : 'checks only'}</span>
        <svg viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
          <path d="M98 12H3M9 7l-6 5 6 5" vector-effect="non-scaling-stroke" />
        </svg>
      </div>
      <div class={phase === 'evaluating' ? 'claim-box real now' : 'claim-box real'}>
        <strong>Real world</strong>
        <span>{mixed ? 'its turns are counted' : 'never trained on'}</span>
      </div>
    </div>
  );
}
