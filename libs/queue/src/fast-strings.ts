/**
 * Makes V8 inline string methods again. ioredis declares a class that extends String. V8 then stores `String.prototype`
 * as a dictionary, and every loop over `charCodeAt` in the process, such as a parser's, becomes several times slower.
 * Reads through a String object, which are otherwise rare, revert this.
 */
export function makeStringsFast(): void {
  const wrapped: string = Object('text');
  for (let read = 0; read < 1_000; read++) wrapped.charCodeAt(0);
}
