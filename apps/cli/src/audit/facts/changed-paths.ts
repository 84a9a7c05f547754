import { isDeepStrictEqual } from 'node:util';
import { canonicalValue } from './canonical';
import { memberOf } from './envelopes';
import { type Found, report } from '../findings';

/** Compares the stored paths of what an update changed with the attributes of both versions. */
export function checkChangedPaths(found: Found, where: string, stored: string, base: unknown, next: unknown): void {
  const value = canonicalValue(stored);
  const paths = Array.isArray(value)
    ? value.filter((path) => typeof path === 'string').map((path) => path.replace(/~$/, ''))
    : [];
  const changed = differences(memberOf(base, 'attributes'), memberOf(next, 'attributes'), '/attributes');
  const wrong = [
    ...changed.filter((path) => !paths.some((other) => touch(path, other))),
    ...paths.filter((path) => !changed.some((other) => touch(path, other))),
  ];
  if (wrong.length > 0) report(found, 'changed_paths', where, wrong.slice(0, 10).join(', ').slice(0, 200));
}

/** Returns the JSON Pointers of the members that differ. An array is one value, as is an object without its counterpart. */
function differences(before: unknown, after: unknown, path: string): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [path];
  return Object.keys({ ...before, ...after }).flatMap((name) =>
    differences(
      memberOf(before, name),
      memberOf(after, name),
      `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    ),
  );
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const touch = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
