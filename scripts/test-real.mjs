/**
 * @file `npm run test:real`: the engine on a real model against PyTorch, transformers, peft, llama.cpp and
 * onnxruntime.
 *
 * Needs python3 and pip once (some hundred MB into .cache/real); says so and exits 0 where they do not answer. Words choose
 * parts: `npm run test:real -- score generate lora onnx`. The last line is "N passed, N failed".
 */
import { generateChecks, loraChecks, onnxChecks, scoreChecks } from '../test/real/checks.mjs';
import { NotRun, prepareOracles } from '../test/real/oracles.mjs';
import { say } from './run.mjs';

const parts = { score: scoreChecks, generate: generateChecks, lora: loraChecks, onnx: onnxChecks };
const words = process.argv.slice(2);
let [passed, failed] = [0, 0];

/** @type {import('../test/real/checks.mjs').Check} */
async function check(name, run) {
  const start = performance.now();
  const number = passed + failed + 1;
  try {
    const remark = await run();
    passed++;
    process.stdout.write(`ok ${number} - ${name}: ${remark} [${((performance.now() - start) / 1000).toFixed(0)} s]\n`);
  } catch (error) {
    failed++;
    const message = error instanceof Error ? error.message : String(error);
    process.stdout.write(`not ok ${number} - ${name}\n${message.replace(/^/gm, '#   ')}\n`);
  }
}

try {
  const unknown = words.find((word) => !Object.hasOwn(parts, word));
  if (unknown) throw new Error(`test:real knows ${Object.keys(parts).join(', ')}, not "${unknown}".`);
  const model = await prepareOracles();
  for (const [name, run] of Object.entries(parts)) {
    if (words.length > 0 && !words.includes(name)) continue;
    try {
      await run(model, check);
    } catch (error) {
      // An oracle that fails is a failure of this test, not of the engine; the other parts still run.
      await check(`${name}: the oracle answers`, () => Promise.reject(error));
    }
  }
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`, () => process.exit(failed > 0 ? 1 : 0));
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof NotRun) process.stdout.write(`test:real not run: ${message}\n`);
  else say(message);
  process.exit(error instanceof NotRun ? 0 : 1);
}
