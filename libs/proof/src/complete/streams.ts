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

/** What a stream counts, and of whom. */
export interface DescribedStream {
  /** Members that name the holder of the stream. */
  readonly of: object;
  readonly holder: readonly [heading: string, text: string];
  readonly what: string;
  /** What an empty end of the stream leaves open. */
  readonly open: readonly string[];
}

/** The streams of a subject, by their letter. `reader` is the tenant that some name. */
const OF_SUBJECT: Readonly<
  Record<string, readonly [name: (type: string, id: string, reader: string) => string, what: string]>
> = {
  v: [versionStream, 'version'],
  a: [accessStream, 'change of access'],
  r: [disclosureStream, 'disclosure'],
  p: [(type, id, reader) => granteeStream(reader, type, id), 'grant'],
};
const OF_TENANT: Readonly<Record<string, readonly [name: (tenant: string) => string, what: string]>> = {
  d: [auditStream, 'audit record'],
  o: [ownerStream, 'change of owner'],
  w: [grantorStream, 'change of a grant on all subjects'],
};

/** Describes the stream of an answer. @throws UnreadableError unless it belongs to the subject or tenant that the answer names */
export function describeStream(answer: Members, stream: string): DescribedStream {
  const [letter = '', second = ''] = stream.split('/');
  if (answer.has('tenant_id')) {
    const tenant = answer.text('tenant_id');
    const [name, what = ''] = (Object.hasOwn(OF_TENANT, letter) && OF_TENANT[letter]) || [];
    requireStream(stream, name?.(tenant));
    return { of: { tenant_id: tenant }, holder: ['Tenant', tenant], what, open: [] };
  }
  const [type, id] = [answer.text('subject_type'), answer.text('subject_id')];
  const [name, what = ''] = (Object.hasOwn(OF_SUBJECT, letter) && OF_SUBJECT[letter]) || [];
  requireStream(stream, name?.(type, id, second));
  const of = { subject: { subject_type: type, subject_id: id } };
  const holder = ['Subject', `${type} ${id}`] as const;
  if (letter !== 'p') return { of, holder, what, open: [] };
  const open = [
    'That no grant on all subjects of the owner includes this subject. Such grants are in another stream.',
    'That a grant is still live. Request the proof of its state.',
  ];
  return { of, holder, what: `${what} to ${second}`, open };
}

function requireStream(stream: string, expected: string | undefined): void {
  if (stream === expected) return;
  const why = expected === undefined ? 'it is none of a subject or tenant' : `it would be ${expected}`;
  throw new UnreadableError('not_newest', `The stream ${stream} is not the one that the proof names: ${why}.`);
}
