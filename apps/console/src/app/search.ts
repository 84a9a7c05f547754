/** Returns the query parameters after a change. Empty and undefined values are left out. */
export function changed(
  search: Readonly<Record<string, string | undefined>>,
  change: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries({ ...search, ...change }).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, value]],
    ),
  );
}
