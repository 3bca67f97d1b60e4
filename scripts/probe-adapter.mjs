/** @file Asks Dawn, under this process' environment, for its adapter; prints it as JSON, or null. Run in a child: a driver may crash. */
const { create } = await import('webgpu');
const adapter = await create([]).requestAdapter({ powerPreference: 'high-performance' });
const info = adapter?.info;
process.stdout.write(
  JSON.stringify(
    info
      ? {
          name: info.description || [info.vendor, info.architecture, info.device].filter(Boolean).join(' '),
          // The same rule as src/gpu/device.ts.
          software:
            info.isFallbackAdapter === true ||
            /swiftshader|llvmpipe|lavapipe|software|cpu/i.test(
              `${info.architecture} ${info.device} ${info.description}`,
            ),
        }
      : null,
  ),
  () => process.exit(0), // Dawn would hold the process
);
