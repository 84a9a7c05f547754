import { uuidOf } from './chance.ts';

/** The officers and owners that are subjects of the world themselves. */
const SUBJECTS: ReadonlyMap<string, string> = new Map([
  ['Moira Tennant', 'individual/p-1001'],
  ['Noor Haddad', 'individual/p-1002'],
  ['Inês Valadares', 'individual/p-1003'],
  ['Callum Ashby', 'individual/p-1004'],
  ['Wei Lin', 'individual/p-1005'],
  ['Katharina Voss', 'individual/kunde-2001'],
  ['Jan-Willem Polderman', 'individual/kunde-2002'],
  ['Siobhán Keane', 'individual/kunde-2003'],
  ['Haldenfjord Verft AS', 'organization/halden-verft'],
]);

/** Returns the key of an officer or owner in a map: the id of its subject, or else an id without personal data. */
export function keyOf(name: string): string {
  return SUBJECTS.get(name)?.split('/')[1] ?? `party-${uuidOf(name).slice(0, 6)}`;
}

/** Returns the entry of an officer or owner in a map. It links to the party's subject, or else contains the name. */
export function entryOf<T extends object>(name: string, members: T): [key: string, value: T & object] {
  const subject = SUBJECTS.get(name);
  return [keyOf(name), { ...(subject === undefined ? { name } : { subject }), ...members }];
}
