/**
 * Makes V8 inline the methods of strings again. ioredis declares a class that extends String; from then on V8 keeps
 * `String.prototype` as a dictionary, and in the whole process a loop over `charCodeAt`, such as a parser's, takes
 * several times as long. Reads through a String object, of which there are otherwise none, turn the prototype back.
 */
export function makeStringsFast(): void {
  const wrapped: string = Object('text');
  for (let read = 0; read < 1_000; read++) wrapped.charCodeAt(0);
}
