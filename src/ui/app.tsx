/** @file The page from top to bottom: the claim, the controls, the proof, a look inside, and the explanation. */
import { SuccessChart } from './charts/success-chart';
import { ExperimentsSection } from './experiments/experiments-section';
import { Announcer, MessageList } from './messages/message-list';
import { ModelsSection } from './models/models-section';
import { ChartsPanel, xMax } from './panels/charts-panel';
import { ClaimPicture } from './panels/claim-picture';
import { ControlDeck } from './panels/control-deck';
import { Dialogs } from './panels/dialogs';
import { Drawer } from './panels/drawer';
import { LoopStrip } from './panels/loop-strip';
import { ResumeBanner } from './panels/resume-banner';
import { StoryNumbers } from './panels/story-numbers';
import { TopBar } from './panels/top-bar';
import { Stage } from './rollouts/stage';
import { hiddenControls, isHidden } from './state/settings';
import { practice } from './state/view';
import { WorldsSection } from './worlds/worlds-section';

/** What is true of the run that is shown. */
const lede = {
  dreamed: 'Everything it practises is imagined by a model on your own GPU. The real world is only used to check it.',
  mixed:
    'Most of what it practises is imagined by a model on your own GPU. The little real practice of this run is counted.',
  real: 'For comparison, this run practises in the real world itself, on your own GPU.',
} as const;

export function App() {
  return (
    <>
      <button type="button" class="skip" onClick={skipToControls}>
        Skip to the controls
      </button>
      <TopBar />
      <main>
        <MessageList levels={['error']} />
        <ResumeBanner />
        <section class="hero" aria-labelledby="claim">
          <div class="intro">
            <h1 id="claim">A tiny agent learns household tasks by dreaming.</h1>
            <p class="lede">{lede[practice.value]}</p>
          </div>
          <ControlDeck />
          <div>
            <ClaimPicture />
            <StoryNumbers />
            <MessageList levels={['warning', 'info']} />
          </div>
        </section>
        <div class="proof">
          <section class="panel" aria-label="Learning curve">
            <SuccessChart xMax={xMax.value} />
          </section>
          {!isHidden('rollouts') && <Stage />}
        </div>
        {!isHidden('charts') && <ChartsPanel />}
        {!isHidden('how') && <LoopStrip />}
        <Drawer />
        <ExperimentsSection />
        <ModelsSection />
        <WorldsSection />
      </main>
      <footer>
        <p>
          No account, no server, no tracking: models, runs and memory stay in this browser.
          {hiddenControls.value.size > 0 && (
            <>
              {' '}
              This lesson link hides some controls.{' '}
              <button
                type="button"
                class="quiet"
                onClick={() => {
                  hiddenControls.value = new Set();
                }}
              >
                Show everything
              </button>
            </>
          )}
        </p>
        <p>
          <a href="https://arxiv.org/abs/2511.03773" rel="noopener noreferrer" target="_blank">
            The paper (arXiv 2511.03773)
          </a>
        </p>
      </footer>
      <Dialogs />
      <Announcer />
    </>
  );
}

/** The address after `#` is the run's, so this is a button that moves the focus, not a link to an anchor. */
function skipToControls(): void {
  document.getElementById('run-button')?.focus();
}
