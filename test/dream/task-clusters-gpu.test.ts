/** @file Tasks in the embedding of the shipped model: what lies together is alike. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { householdDomain } from '../../src/dream/household';
import { clusterTasks } from '../../src/dream/task-clusters';
import { openHouseholdModels } from '../../src/models/embedded';
import { testGpu } from '../gpu';

const folder = fileURLToPath(new URL('../../public/models/household-tiny/', import.meta.url));

afterAll(async () => (await testGpu()).destroy());

it('clusters of the shipped model’s embedding hold tasks of one kind more often than chance', async () => {
  const { experience, tokenizer } = await openHouseholdModels(
    await testGpu(),
    async (name) => new Uint8Array(await readFile(folder + name)),
  );
  const domain = householdDomain(tokenizer);
  const tasks = domain.trainingTasks().slice(0, 48);
  const clusters = await clusterTasks(experience, domain, tasks, 1);
  expect(await clusterTasks(experience, domain, tasks, 1)).toEqual(clusters);
  expect(new Set(clusters).size).toBeGreaterThan(6);
  const agreement = (inside: boolean) => {
    let alike = 0;
    let pairs = 0;
    tasks.forEach((a, i) => {
      for (let j = 0; j < i; j++) {
        if ((clusters[i] === clusters[j]) !== inside) continue;
        pairs++;
        if (a.family === tasks[j].family) alike++;
      }
    });
    return alike / pairs;
  };
  expect(agreement(true)).toBeGreaterThan(2 * agreement(false));
});
