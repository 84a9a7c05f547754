import { type LogEntryType, RULES, SCOPES, SUBJECT_TYPES } from '@iss/domain';
import * as f from '../describe/fields';
import { part, view, type ViewOf } from '../describe/view';
import { constant, listOf, shown } from '../describe/field';
import { changedPaths, changeKind, SNAPSHOT_HEADER_EXAMPLE, WRITER } from '../snapshots/snapshot-header';
import { query, type SentOf } from '../describe/shape';
import { LIST_LIMITS } from '../describe/page-limits';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { answer, type ResponseFacts, operations } from '../describe/operation';
import { paths, startsAt } from '../sharing/grant';

export const LAST_EVENT_ID = 'Last-Event-ID';

/** The `log_index` of an item, or a place that the service sealed. */
const PLACE = /^(?:0|[1-9][0-9]{0,14}|[\w-]{1,64}(?:\.[\w-]{1,64}){3})$/;

const place = {
  log_index: f.count.described(
    'The index of the entry in the log, from 0. Use it to request the proof, or send it as `after`.',
  ),
};

const granted = {
  grant_id: f.uuid.described('The grant.'),
  tenant_id: f.tenantId.described('The tenant that gave the grant.'),
  grantee_tenant_id: f.tenantId.described('The tenant that got the grant.'),
};

const terms = { paths, starts_at: startsAt };

const about = {
  subject: f.SubjectRef.fromRecord(),
  subject_type: f.subjectType,
  subject_id: f.text.described('The subject’s id.'),
};

/** The subject of a grant, or all subjects of its grantor. */
const aboutGranted = {
  subject: part({ subject_type: f.grantedType, subject_id: f.grantedId })
    .fromRecord()
    .described('The subject of the grant.'),
  subject_type: f.grantedType,
  subject_id: f.grantedId,
};

/** A view for each type of entry. The log may get more types. */
export const CHANGE_VIEWS = {
  'snapshot.created': view('SnapshotCreatedChange', {
    ...place,
    type: constant('snapshot.created').described('A subject has a new snapshot.'),
    tenant_id: f.tenantId.described('The owner of the subject.'),
    ...about,
    snapshot_id: f.uuid.described('The new snapshot.'),
    snapshot_version: f.version,
    envelope_hash: f.hash.described('The envelope hash of the snapshot.'),
    prev_hash: f.hash.nullable().described('The envelope hash of the previous version; null for version 1.'),
    view_hash: f.hash.optional().described('The hash of the view. Absent if the entry does not name it.'),
    created_at: f.time.described('When the snapshot was stored.'),
    ...WRITER,
    change_kind: changeKind,
    changed_paths: changedPaths,
  }),
  'grant.created': view('GrantCreatedChange', {
    ...place,
    type: constant('grant.created').described('A tenant may read a subject of another tenant.'),
    ...granted,
    ...aboutGranted,
    scopes: listOf(f.oneOf<string>(SCOPES)).described(
      'The reads that the grant permitted when it was created; sorted.',
    ),
    ...terms,
    expires_at: f.time.nullable().described('When the grant expires, as set at its creation; null: never.'),
    created_at: f.time.described('When the grant was created.'),
  }),
  'grant.changed': view('GrantChangedChange', {
    ...place,
    type: constant('grant.changed').described('The terms of a grant changed.'),
    ...granted,
    ...aboutGranted,
    scopes: listOf(f.oneOf<string>(SCOPES)).described('The reads that the grant permits after the change; sorted.'),
    ...terms,
    expires_at: f.time.nullable().described('When the grant expires; null: never.'),
    changed_at: f.time.described('When the grant changed.'),
  }),
  'grant.revoked': view('GrantRevokedChange', {
    ...place,
    type: constant('grant.revoked').described('A grant was revoked.'),
    ...granted,
    ...aboutGranted,
    revoked_at: f.time.described('When the grant was revoked.'),
  }),
  'tenant.owner_changed': view('OwnerChangedChange', {
    ...place,
    type: constant('tenant.owner_changed').described('The owner of the tenant changed.'),
    tenant_id: f.tenantId.described('The tenant.'),
    principal_id: f.principalId.nullable().described('The new owner; null if nobody replaced the previous one.'),
    from_principal_id: f.principalId
      .nullable()
      .described('The previous owner; null if the tenant was founded, or if it gained a further owner.'),
    changed_at: f.time.described('When the owner changed.'),
  }),
  'subject.erased': view('SubjectErasedChange', {
    ...place,
    type: constant('subject.erased').described('Versions of a subject were erased. Erase your copies of them.'),
    tenant_id: f.tenantId.described('The owner of the subject.'),
    ...about,
    erased_indexes: listOf(f.count).described('The `log_index` of each erased version, ascending.'),
    erased_at: f.time.described('When the content was destroyed.'),
  }),
};

type Views = typeof CHANGE_VIEWS;

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

const item = shown<ChangeItem>({
  title: 'Change',
  oneOf: CHANGE_TYPES.map((type) => CHANGE_VIEWS[type].facts.shown),
});

export const ChangePage = view('ChangePage', {
  items: listOf(item).described(
    'The entries, in the order of the log. A page with fewer than `limit` items is not always the last one.',
  ),
  next_after: f.text
    .nullable()
    .described(
      'The value to send as `after` in the next request, even if this page is empty. Null if no entry concerns ' +
        'the tenant yet. It is opaque, never expires, and works only in the feed of this tenant.',
    ),
  has_more: f.flag.described('True if more entries exist now.'),
  complete: f.flag.described(
    'False while a worker still adds older entries, because a tenant recently granted all of its subjects. To ' +
      'get them, read again later from your starting point. See [/docs/feed](/docs/feed).',
  ),
});
export type ChangePage = ViewOf<typeof ChangePage>;

export const ChangesQuery = query({
  after: f
    .matching(PLACE, 'must be the next_after of a response, or the log_index of an item')
    .optional()
    .example('41')
    .described(
      'The `next_after` of the previous response, or the `log_index` of the last item. Defaults to the start of ' +
        'the log.',
    ),
  limit: f
    .wholeFrom(1, LIST_LIMITS.max, LIST_LIMITS.default)
    .optional()
    .described('The maximum number of items on the page.'),
  wait: f
    .matching(/^(?:[0-9]|[12][0-9]|30)$/, 'must be a number of seconds from 0 to 30')
    .optional()
    .byDefault('0')
    .described('Seconds to wait for a new entry if there is none.'),
  subject_type: f
    .oneOf(SUBJECT_TYPES)
    .optional()
    .example('organization')
    .described('Only entries about subjects of this type.'),
  subject_id: f.subjectId
    .optional()
    .example('acme-corp')
    .described('Only entries about this subject; send `subject_type` too.'),
  from: f.dayOrInstant
    .optional()
    .example('2026-01-15')
    .described('Only entries from this moment on: an RFC 3339 date-time with a timezone, or a UTC date.'),
  paths: f.text
    .optional()
    .example('/attributes/legal/legal_name')
    .described(
      'JSON Pointers below `/attributes`, separated by commas. Selects the entries of new snapshots in which something ' +
        'at, below or above one of these paths may have changed. Entries of other types are not filtered.',
    ),
  type: f.oneOf(CHANGE_TYPES).optional().example('snapshot.created').described('Only entries of this type.'),
});
export type ChangesQuery = SentOf<typeof ChangesQuery>;

const { subject: NAMED, ...header } = SNAPSHOT_HEADER_EXAMPLE;

const ABOUT = { subject: NAMED, ...NAMED };
const GRANTED = { grant_id: EXAMPLE_IDS.grant_id, tenant_id: 'acme', grantee_tenant_id: 'beta' };

/** The feed of an owner: a snapshot, a grant and its revocation. The last entry of the log does not concern it. */
const CHANGES_EXAMPLE: ChangePage = {
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
      change_kind: header.change_kind,
      changed_paths: null,
    },
    {
      log_index: 1,
      type: 'grant.created',
      ...GRANTED,
      ...ABOUT,
      scopes: ['read_latest'],
      paths: null,
      starts_at: null,
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
const EVENTS_EXAMPLE = CHANGES_EXAMPLE.items
  .slice(0, 1)
  .map((one) => eventText(one.log_index, one.type, JSON.stringify(one)))
  .join('');

export function eventText(id: number, type: LogEntryType, data: string): string {
  return `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;
}

const { description, content } = answer(
  'The next entries. A stream sends them and then each new entry.',
  ChangePage,
  CHANGES_EXAMPLE,
);

const FEED: ResponseFacts = {
  description,
  content: { ...content, 'text/event-stream': { schema: { type: 'string' }, example: EVENTS_EXAMPLE } },
};

export const CHANGE_FEED = operations('Change feed', '/v1/tenants/{tenant_id}', {
  listChanges: {
    route: 'GET /changes',
    summary: 'List the changes to subjects that the tenant owns or may read, in the order of the log',
    who: RULES.readChanges,
    header: {
      name: LAST_EVENT_ID,
      description: 'The `id` of the last event, to resume a stream. It replaces `after`.',
      example: '41',
    },
    query: ChangesQuery,
    description:
      'The feed has every entry of the transparency log about a subject that the tenant now owns or may read. ' +
      'It also has the grants to and from the tenant, and its changes of owner. Entries about another tenant’s ' +
      'subject need a live grant with `read_latest` or `read_lineage`, and `allow_counterparty_access` for the ' +
      'caller. With `Accept: text/event-stream`, the response is a stream of server-sent events that stays ' +
      'open. See [/docs/feed](/docs/feed).',
    answers: { 200: FEED },
  },
});
