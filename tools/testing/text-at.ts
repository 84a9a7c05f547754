/** Returns the text at a path of a JSON response. @throws Error if there is none */
export function textAt(body: unknown, ...path: string[]): string {
  let value = body;
  for (const name of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  if (typeof value !== 'string') throw new Error(`No text at ${path.join('.')} of ${JSON.stringify(body)}`);
  return value;
}
