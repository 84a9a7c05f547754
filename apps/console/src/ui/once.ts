/** Returns a function that makes a value when it is first needed. A formatter of `Intl` takes up to 80 ms. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
