/** What stands behind the `?` of an address, some of it left out or set anew; what is empty is left out too. */
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
