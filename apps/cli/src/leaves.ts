import { formatPointer } from '@iss/domain/pure';
import { visible } from './visible';

/** A value that has no members, or no longer any, with the place where it stands. */
export interface Leaf {
  /** An RFC 6901 pointer. */
  path: string;
  value: unknown;
}

/** What a JSON value is made of, in its order. An empty object or array stands for itself. */
export function leavesOf(value: unknown, path = ''): Leaf[] {
  if (typeof value !== 'object' || value === null) return [{ path, value }];
  const members = Object.entries(value);
  if (members.length === 0) return [{ path, value }];
  return members.flatMap(([name, member]) => leavesOf(member, path + formatPointer([name])));
}

/** A value in a line. */
export function shortValue(value: unknown): string {
  return visible(JSON.stringify(value) ?? 'nothing');
}
