import { type LogEntryType, SCOPES, SUBJECT_TYPES } from '@iss/domain';
import type { Change, Changes } from '@iss/persistence';
import {
  constant,
  count,
  dayOrInstant,
  EXAMPLE_IDS,
  flag,
  grantedId,
  grantedType,
  hash,
  LIST_LIMITS,
  listOf,
  matching,
  oneOf,
  part,
  principalId,
  query,
  type SentOf,
  shown,
  subjectId,
  SubjectRef,
  subjectType,
  tenantId,
  text,
  time,
  uuid,
  version,
  view,
  type ViewOf,
  wholeFrom,
} from '@iss/contract';
import { JsonText } from '../../http/answer/json-text';
import { PLACE } from './feed-places';
import { SNAPSHOT_HEADER_EXAMPLE, WRITER } from '../../http/answer/snapshot-header.view';

const place = {
  log_index: count.described(
    'The index of the entry in the log, from 0. Use it to request the proof, or send it as `after`.',
  ),
};
const granted = {
  grant_id: uuid.described('The grant.'),
  tenant_id: tenantId.described('The tenant that gave the grant.'),
  grantee_tenant_id: tenantId.described('The tenant that got the grant.'),
};
const about = {
  subject: SubjectRef.fromRecord(),
  subject_type: subjectType,
  subject_id: text.described('The subject’s id.'),
};

/** The subject of a grant, or all subjects of its grantor. */
const aboutGranted = {
  subject: part({ subject_type: grantedType, subject_id: grantedId })
    .fromRecord()
    .described('The subject of the grant.'),
  subject_type: grantedType,
  subject_id: grantedId,
};

/** A view for each type of entry. The log may get more types. */
const CHANGES = {
  'snapshot.created': view('SnapshotCreatedChange', {
    ...place,
    type: constant('snapshot.created').described('A subject has a new snapshot.'),
    tenant_id: tenantId.described('The owner of the subject.'),
    ...about,
    snapshot_id: uuid.described('The new snapshot.'),
    snapshot_version: version,
    envelope_hash: hash.described('The envelope hash of the snapshot.'),
    prev_hash: hash.nullable().described('The envelope hash of the previous version; null for version 1.'),
    created_at: time.described('When the snapshot was stored.'),
    ...WRITER,
  }),
  'grant.created': view('GrantCreatedChange', {
    ...place,
    type: constant('grant.created').described('A tenant may read a subject of another tenant.'),
    ...granted,
    ...aboutGranted,
    scopes: listOf(oneOf<string>(SCOPES)).described('The reads that the grant permitted when it was created; sorted.'),
    expires_at: time.nullable().described('When the grant expires, as set at its creation; null: never.'),
    created_at: time.described('When the grant was created.'),
  }),
  'grant.changed': view('GrantChangedChange', {
    ...place,
    type: constant('grant.changed').described('The scopes or the end of a grant changed.'),
    ...granted,
    ...aboutGranted,
    scopes: listOf(oneOf<string>(SCOPES)).described('The reads that the grant permits after the change; sorted.'),
    expires_at: time.nullable().described('When the grant expires; null: never.'),
    changed_at: time.described('When the grant changed.'),
  }),
  'grant.revoked': view('GrantRevokedChange', {
    ...place,
    type: constant('grant.revoked').described('A grant was revoked.'),
    ...granted,
    ...aboutGranted,
    revoked_at: time.described('When the grant was revoked.'),
  }),
  'tenant.owner_changed': view('OwnerChangedChange', {
    ...place,
    type: constant('tenant.owner_changed').described('The owner of the tenant changed.'),
    tenant_id: tenantId.described('The tenant.'),
    principal_id: principalId.nullable().described('The new owner; null if nobody replaced the previous one.'),
    from_principal_id: principalId
      .nullable()
      .described('The previous owner; null if the tenant was founded, or if it gained a further owner.'),
    changed_at: time.described('When the owner changed.'),
  }),
  'subject.erased': view('SubjectErasedChange', {
    ...place,
    type: constant('subject.erased').described('Versions of a subject were erased. Erase your copies of them.'),
    tenant_id: tenantId.described('The owner of the subject.'),
    ...about,
    erased_indexes: listOf(count).described('The `log_index` of each erased version, ascending.'),
    erased_at: time.described('When the content was destroyed.'),
  }),
};
type Views = typeof CHANGES;

/** An entry of the log without attributes and without its salt: its facts and its subject. */
export type ChangeItem = { [Type in keyof Views]: ViewOf<Views[Type]> }[keyof Views];

const CHANGE_TYPES = [
  'snapshot.created',
  'grant.created',
  'grant.changed',
  'grant.revoked',
  'tenant.owner_changed',
  'subject.erased',
] as const satisfies LogEntryType[];

/** Returns an entry as readers see it. */
function changeItem({ logIndex, fact, subject, granteeTenantId }: Change): ChangeItem {
  switch (fact.type) {
    case 'snapshot.created':
      return CHANGES[fact.type].of({ ...fact, logIndex });
    case 'grant.created':
      return CHANGES[fact.type].of({ ...fact, scopes: [...fact.scopes].sort(), logIndex });
    case 'grant.changed':
      return CHANGES[fact.type].of({
        ...fact,
        ...known(subject),
        granteeTenantId: known(granteeTenantId),
        scopes: [...fact.scopes].sort(),
        logIndex,
      });
    case 'grant.revoked':
      return CHANGES[fact.type].of({ ...fact, ...known(subject), granteeTenantId: known(granteeTenantId), logIndex });
    case 'tenant.owner_changed':
      return CHANGES[fact.type].of({ ...fact, logIndex });
    case 'subject.erased':
      return CHANGES[fact.type].of({ ...fact, logIndex });
  }
}

/** Returns a value that every row of a grant has. */
function known<T>(value: T | null): T {
  if (value === null) throw new Error('a grant without its subject or grantee');
  return value;
}

const item = shown<ChangeItem>({
  title: 'Change',
  oneOf: CHANGE_TYPES.map((type) => CHANGES[type].facts.shown),
});

export const ChangePage = view('ChangePage', {
  items: listOf(item).described(
    'The entries, in the order of the log. A page with fewer than `limit` items is not always the last one.',
  ),
  next_after: text
    .nullable()
    .described(
      'The value to send as `after` in the next request, even if this page is empty. Null if no entry concerns ' +
        'the tenant yet. It is opaque, never expires, and works only in the feed of this tenant.',
    ),
  has_more: flag.described('True if more entries exist now.'),
  complete: flag.described(
    'False while a worker still adds older entries, because a tenant recently granted all of its subjects. To ' +
      'get them, read again later from your starting point. See [/docs/feed](/docs/feed).',
  ),
});
export type ChangePage = ViewOf<typeof ChangePage>;

/** The place before the first entry of the log. */
export const BEFORE_ALL = -1;

/** Returns a {@link ChangePage} as JSON text. */
export function changePage({ items, hasMore, isComplete }: Changes, nextAfter: string | null): JsonText {
  const members = JSON.stringify({ next_after: nextAfter, has_more: hasMore, complete: isComplete });
  return new JsonText(`{"items":[${items.map(textOf).join()}],${members.slice(1)}`);
}

/** The texts of changes that were written before. The store returns the same objects again. */
const texts = new WeakMap<Change, string>();

function textOf(change: Change): string {
  const written = texts.get(change);
  if (written !== undefined) return written;
  const text = JSON.stringify(changeItem(change));
  texts.set(change, text);
  return text;
}

export const ChangesQuery = query({
  after: matching(PLACE, 'must be the next_after of a response, or the log_index of an item')
    .optional()
    .example('41')
    .described(
      'The `next_after` of the previous response, or the `log_index` of the last item. Defaults to the start of ' +
        'the log.',
    ),
  limit: wholeFrom(1, LIST_LIMITS.max, LIST_LIMITS.default)
    .optional()
    .described('The maximum number of items on the page.'),
  wait: matching(/^(?:[0-9]|[12][0-9]|30)$/, 'must be a number of seconds from 0 to 30')
    .optional()
    .byDefault('0')
    .described('Seconds to wait for a new entry if there is none.'),
  subject_type: oneOf(SUBJECT_TYPES)
    .optional()
    .example('organization')
    .described('Only entries about subjects of this type.'),
  subject_id: subjectId
    .optional()
    .example('acme-corp')
    .described('Only entries about this subject; send `subject_type` too.'),
  from: dayOrInstant
    .optional()
    .example('2026-01-15')
    .described('Only entries from this moment on: an RFC 3339 date-time with a timezone, or a UTC date.'),
  type: oneOf(CHANGE_TYPES).optional().example('snapshot.created').described('Only entries of this type.'),
});
export type ChangesQuery = SentOf<typeof ChangesQuery>;

const { subject: NAMED, ...header } = SNAPSHOT_HEADER_EXAMPLE;
const ABOUT = { subject: NAMED, ...NAMED };
const GRANTED = { grant_id: EXAMPLE_IDS.grant_id, tenant_id: 'acme', grantee_tenant_id: 'beta' };

/** The feed of an owner: a snapshot, a grant and its revocation. The last entry of the log does not concern it. */
export const CHANGES_EXAMPLE: ChangePage = {
  items: [
    {
      log_index: 0,
      type: 'snapshot.created',
      tenant_id: 'acme',
      ...ABOUT,
      snapshot_id: header.snapshot_id,
      snapshot_version: header.snapshot_version,
      envelope_hash: header.envelope_hash ?? '',
      prev_hash: header.prev_hash,
      created_at: header.created_at,
      written_by: header.written_by,
      write_request_id: header.write_request_id,
    },
    {
      log_index: 1,
      type: 'grant.created',
      ...GRANTED,
      ...ABOUT,
      scopes: ['read_latest'],
      expires_at: null,
      created_at: '2026-01-15T10:00:00.000Z',
    },
    { log_index: 2, type: 'grant.revoked', ...GRANTED, ...ABOUT, revoked_at: '2026-02-01T00:00:00.000Z' },
  ],
  next_after: 'k1.mJ3sV0yq7cQx2HfB.9rTzN4uWk1oYp6EaDgLs.bX8vRf5MhS2iQjU0nCwKtA',
  has_more: false,
  complete: true,
};

/** The beginning of a stream. */
export const EVENTS_EXAMPLE = CHANGES_EXAMPLE.items
  .slice(0, 1)
  .map((one) => eventText(one.log_index, one.type, JSON.stringify(one)))
  .join('');

/**
 * Writes batches as server-sent events (HTML standard, section 9.2). Their ids are places in the log. Null becomes a
 * comment that shows that the stream is alive. The comment `incomplete` says that older entries will follow. The work
 * on each batch runs in `measured`.
 */
export async function* eventsIn(
  batches: AsyncIterable<Changes | null>,
  measured: (work: () => string) => string,
): AsyncGenerator<string> {
  // Sent at once to confirm the stream, even if the feed is still empty.
  let opening = 'retry: 1000\n\n';
  for await (const batch of batches) {
    yield opening + (batch === null ? ': nothing new\n\n' : measured(() => eventsOf(batch)));
    opening = '';
  }
}

function eventsOf({ items, isComplete }: Changes): string {
  return items.map(eventOf).join('') + (isComplete ? '' : ': incomplete\n\n');
}

function eventOf(change: Change): string {
  return eventText(change.logIndex, change.fact.type, textOf(change));
}

function eventText(id: number, type: LogEntryType, data: string): string {
  return `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;
}
