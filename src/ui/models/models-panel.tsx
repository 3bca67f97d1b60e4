/** @file The panel "Models" from choosing to using; fetched when it is opened, with its styles. */
import './models.css';
import { useEffect } from 'preact/hooks';
import { AdapterPart } from './adapter-part';
import { Chooser } from './chooser';
import { chooseKind, facts, inspecting, kind } from './choosing';
import { loaded } from './connection';
import { ExperiencePart } from './experience-part';
import { Facts } from './facts';
import { Kept } from './kept';
import { Loader } from './loader';
import { Plan } from './plan';
import { TrainPart } from './train-part';
import { UsePart } from './use-part';

export function ModelsPanel() {
  useEffect(() => {
    if (!facts.peek() && !inspecting.peek() && kind.peek() === 'embedded') chooseKind('embedded');
  }, []);
  return (
    <div class="models-body">
      <Chooser />
      {facts.value && <Facts facts={facts.value} />}
      {facts.value && <Plan facts={facts.value} />}
      {(facts.value || loaded.value) && <Loader />}
      {loaded.value && <UsePart loaded={loaded.value} />}
      {loaded.value && <AdapterPart loaded={loaded.value} />}
      {loaded.value && <TrainPart loaded={loaded.value} />}
      <ExperiencePart />
      <Kept />
    </div>
  );
}
