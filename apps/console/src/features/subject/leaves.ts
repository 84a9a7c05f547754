import { formatPointer } from '@iss/domain/pure';

/** A value that is not a non-empty object or array (docs/provenance.md). */
export interface Leaf {
  /** A JSON Pointer into the envelope. */
  readonly path: string;
  readonly value: unknown;
}

/** Returns the leaves of attributes in canonical order (RFC 8785), which is also the order of the service. */
export function leavesOf(attributes: object): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const waiting: Leaf[] = [{ path: '/attributes', value: attributes }];
  // An envelope can be too deep for recursion.
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, value } = next;
    const members = membersOf(value);
    if (members.length === 0) {
      if (value !== attributes) leaves.push(next);
      continue;
    }
    for (const [name, member] of members.reverse()) waiting.push({ path: path + formatPointer([name]), value: member });
  }
  return leaves;
}

function membersOf(value: unknown): [name: string, member: unknown][] {
  if (typeof value !== 'object' || value === null) return [];
  const members = Object.entries(value);
  // `<` compares UTF-16 code units, as RFC 8785 requires.
  return Array.isArray(value) ? members : members.sort(([a], [b]) => (a < b ? -1 : 1));
}
