/**
 * @file What objects are called. ALFWorld's ids carry coordinates (`Cabinet_bar__plus_01_dot_66_…`); its players read
 * `cabinet 8`. Per name the numbers 1..n are handed out from the end, so the alphabetically first id gets n.
 * Rule: alfworld/agents/utils/misc.py, Demangler. Ids without `_bar_` are their own names.
 */

/** @param ids in ascending order, in lower case. @returns one name per id. */
export function demangle(ids: readonly string[]): string[] {
  const bases = ids.map((id) => {
    const bar = id.indexOf('_bar_');
    if (bar < 0) return null;
    const base = id.slice(0, bar);
    // `Sink_bar_…_bar_SinkBasin` is not the sink but the basin in it.
    return id.includes('basin') && !base.includes('basin') ? `${base}basin` : base;
  });
  const left = new Map<string, number>();
  for (const base of bases) if (base !== null) left.set(base, (left.get(base) ?? 0) + 1);
  return ids.map((id, i) => {
    const base = bases[i];
    if (base === null)
      return id
        .replaceAll('_minus_', '-')
        .replaceAll('_plus_', '+')
        .replaceAll('_dot_', '.')
        .replaceAll('_comma_', ',');
    const number = left.get(base)!;
    left.set(base, number - 1);
    return `${base} ${number}`;
  });
}
