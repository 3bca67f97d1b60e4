/** @file Browsers let a queue write from shared memory, Dawn's binding for Node refuses it; onnxruntime's WebAssembly memory is shared. */

/** The same device, whose queue takes shared memory as well (by a copy). @param {GPUDevice} device */
export function acceptSharedMemory(device) {
  if (typeof process === 'undefined') return device;
  const { queue } = device;
  const write = queue.writeBuffer.bind(queue);
  queue.writeBuffer = (buffer, offset, data, ...range) => {
    const shared = ArrayBuffer.isView(data) && data.buffer instanceof SharedArrayBuffer;
    write(buffer, offset, shared ? /** @type {Uint8Array<any>} */ (data).slice() : data, ...range);
  };
  return device;
}
