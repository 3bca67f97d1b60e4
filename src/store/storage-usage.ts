/** @file How much the browser lets this page keep, how much it keeps, and whether it promises not to forget. */

export interface StorageUsage {
  usageBytes: number;
  quotaBytes: number;
  /** True when the browser will not drop it under disk pressure; Safari drops unvisited sites after seven days. */
  persisted: boolean;
}

/** null where the browser does not tell (insecure context). */
export async function storageUsage(storage = globalThis.navigator?.storage): Promise<StorageUsage | null> {
  if (!storage?.estimate) return null;
  try {
    const [{ usage = 0, quota = 0 }, persisted] = await Promise.all([
      storage.estimate(),
      storage.persisted?.() ?? false,
    ]);
    return { usageBytes: usage, quotaBytes: quota, persisted };
  } catch {
    return null;
  }
}

/** Only a page may ask, not a worker; ask after the first finished iteration, and never rely on the answer. */
export async function askToPersist(storage = globalThis.navigator?.storage): Promise<boolean> {
  try {
    return (await storage?.persist?.()) ?? false;
  } catch {
    return false;
  }
}
