/** @file A tested device with the embedded models on it, for every command that needs both. */
import { type Gpu, openGpu } from '../gpu/device';
import { assertDevicePasses, runSelfTest } from '../gpu/self-test';
import { type HouseholdModels, openHouseholdModels } from '../models/embedded';
import { readFromDisk } from './model-files';
import { nodeGpu } from './node-gpu';

/** @param root Folder of the project. Throws `self-test-failed` rather than train on wrong numbers, or `model-missing`. */
export async function openHouseholdEngine(root: string): Promise<HouseholdModels & { gpu: Gpu }> {
  const gpu = await openGpu(await nodeGpu());
  assertDevicePasses(await runSelfTest(gpu));
  return { gpu, ...(await openHouseholdModels(gpu, readFromDisk(root))) };
}
