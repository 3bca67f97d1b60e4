/** @file Starts the page: theme and address first, then the paint, then the slow questions (recording, GPU, worker). */
import { render } from 'preact';
import './styles/index.css';
import { App } from './app';
import { startStageClock } from './rollouts/selection';
import { loadTokenNames } from './rollouts/token-names';
import { asking, askReset, moveRollout, run, startRun, stepOnce } from './state/actions';
import { acceptDrops } from './state/files';
import { loadRecording, startReplayClock, watchVisibility } from './state/playback';
import { checkMachine, machine } from './state/preflight';
import { offerScriptApi } from './state/script-api';
import { isHidden, keepAddress, readAddress, watchAddress } from './state/settings';
import { type Command, listenForShortcuts } from './state/shortcuts';
import { startTheme } from './state/theme';
import { lookForLastRun } from './state/trainer';
import { view } from './state/view';

const commands: Record<Command, () => void> = {
  run,
  step: () => !isHidden('step') && stepOnce(),
  reset: () => !isHidden('reset') && view.value.kind === 'live' && askReset(),
  help: () => {
    asking.value = 'help';
  },
  previous: () => moveRollout(-1),
  next: () => moveRollout(1),
};

startTheme();
const link = readAddress();
keepAddress();
watchAddress();
watchVisibility();
render(<App />, document.getElementById('app') as HTMLElement);
listenForShortcuts((command) => commands[command]());
acceptDrops();
offerScriptApi();
startReplayClock();
startStageClock();

void (async () => {
  void loadRecording().then(loadTokenNames);
  await checkMachine();
  if (machine.value.state === 'blocked') return;
  if (link.autostart) startRun();
  else await lookForLastRun();
})();
