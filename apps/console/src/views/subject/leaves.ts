/** A value that is no object or array with something in it; docs/provenance.md. */
export interface Leaf {
  /** A JSON Pointer into the envelope. */
  readonly path: string;
  readonly value: unknown;
}

/** The leaves of attributes in canonical order (RFC 8785), as the service tells of them. */
export function leavesOf(attributes: object): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const waiting: Leaf[] = [{ path: '/attributes', value: attributes }];
  // Without recursion: as deep as an envelope may be.
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, value } = next;
    const members = membersOf(value);
    if (members.length === 0) {
      if (value !== attributes) leaves.push(next);
      continue;
    }
    for (const [name, member] of members.reverse()) waiting.push({ path: `${path}/${escaped(name)}`, value: member });
  }
  return leaves;
}

function membersOf(value: unknown): [name: string, member: unknown][] {
  if (typeof value !== 'object' || value === null) return [];
  const members = Object.entries(value);
  // The default order is by UTF-16 code units, as RFC 8785 has it.
  return Array.isArray(value) ? members : members.sort(([a], [b]) => (a < b ? -1 : 1));
}

/** RFC 6901. */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The names on the way of a JSON Pointer, for reading. */
export function namesOf(path: string): readonly string[] {
  return path
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}
