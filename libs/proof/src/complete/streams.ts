import {
  accessStream,
  auditStream,
  disclosureStream,
  granteeStream,
  grantorStream,
  ownerStream,
  versionStream,
} from '@iss/map';
import { UnreadableError } from '../errors';
import type { Members } from '../members';

/** A stream that an answer names, and what it counts. */
export interface NamedStream {
  readonly name: string;
  readonly what: string;
  /** The members that name its holder. */
  readonly of: object;
  readonly holder: readonly [heading: string, text: string];
  readonly notProved: readonly string[];
}

const OF_SUBJECT: Readonly<Record<string, readonly [(type: string, id: string) => string, what: string]>> = {
  v: [versionStream, 'version'],
  a: [accessStream, 'change of access'],
  r: [disclosureStream, 'disclosure'],
};
const OF_TENANT: Readonly<Record<string, readonly [(tenant: string) => string, what: string]>> = {
  d: [auditStream, 'audit record'],
  o: [ownerStream, 'change of owner'],
  p: [(tenant) => granteeStream(tenant, '*', '*'), 'grant to it on all subjects of an owner'],
  w: [grantorStream, 'change of a grant on all subjects'],
};

const NOT_BY_GRANTEE = [
  'That no grant on all subjects of the owner includes this subject. They are in the stream p of the tenant.',
  'That a counted grant is still live. Request the proof of its state.',
];

/** Returns the stream of an answer: its letter, and the subject or tenant. @throws UnreadableError for another letter */
export function streamOf(answer: Members): NamedStream {
  const letter = answer.text('stream');
  if (!answer.has('subject_type')) {
    const tenant = answer.text('tenant_id');
    const [nameOf, what] = requireKnown(OF_TENANT, letter);
    return { name: nameOf(tenant), what, of: { tenant_id: tenant }, holder: ['Tenant', tenant], notProved: [] };
  }
  const [type, id] = [answer.text('subject_type'), answer.text('subject_id')];
  const of = { subject: { subject_type: type, subject_id: id } };
  const holder = ['Subject', `${type} ${id}`] as const;
  if (letter === 'p') {
    const grantee = answer.text('tenant_id');
    const name = granteeStream(grantee, type, id);
    return { name, what: `grant to ${grantee}`, of: { ...of, tenant_id: grantee }, holder, notProved: NOT_BY_GRANTEE };
  }
  const [nameOf, what] = requireKnown(OF_SUBJECT, letter);
  return { name: nameOf(type, id), what, of, holder, notProved: [] };
}

function requireKnown<T>(streams: Readonly<Record<string, T>>, letter: string): T {
  const stream = Object.hasOwn(streams, letter) ? streams[letter] : undefined;
  if (stream !== undefined) return stream;
  const letters = Object.keys(streams).join(', ');
  throw new UnreadableError('not_newest', `The proof is of the unknown stream ${letter}. Expected one of ${letters}.`);
}
