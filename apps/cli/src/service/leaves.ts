import { formatPointer } from '@iss/domain/pure';
import { visible } from '../visible';

/** A scalar, or an empty object or array, with its path. */
export interface Leaf {
  /** An RFC 6901 pointer. */
  path: string;
  value: unknown;
}

/** Returns the leaves of a JSON value in order. An empty object or array is a leaf. */
export function leavesOf(value: unknown, path = ''): Leaf[] {
  if (typeof value !== 'object' || value === null) return [{ path, value }];
  const members = Object.entries(value);
  if (members.length === 0) return [{ path, value }];
  return members.flatMap(([name, member]) => leavesOf(member, path + formatPointer([name])));
}

/** Formats a value as escaped JSON in one line. */
export function shortValue(value: unknown): string {
  return visible(JSON.stringify(value) ?? 'nothing');
}
