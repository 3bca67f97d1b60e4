/** @file One recording on the test device: upload, record, read everything back. */
import type { GpuBuffer } from '../../src/gpu/buffers';
import type { Gpu } from '../../src/gpu/device';
import type { Recorder } from '../../src/gpu/recorder';
import './patience';

type Numbers = Float32Array | Uint32Array;

/** Every buffer's contents after the recording, by the names they came in under. */
export async function runKernel<T extends Record<string, Numbers>>(
  gpu: Gpu,
  data: T,
  record: (rec: Recorder, buffers: { [K in keyof T]: GpuBuffer }) => void,
): Promise<T> {
  await gpu.ready();
  const names: (keyof T & string)[] = Object.keys(data);
  const buffers = Object.fromEntries(names.map((name) => [name, gpu.upload(data[name], name)])) as {
    [K in keyof T]: GpuBuffer;
  };
  const rec = gpu.record('test');
  record(rec, buffers);
  rec.submit();
  const result: Partial<Record<keyof T, Numbers>> = {};
  for (const name of names) {
    const { length } = data[name];
    const read =
      data[name] instanceof Float32Array ? gpu.readF32(buffers[name], length) : gpu.readU32(buffers[name], length);
    result[name] = await read;
    buffers[name].release();
  }
  return result as T;
}
