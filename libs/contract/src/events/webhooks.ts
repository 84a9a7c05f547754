import {
  changeRequestedData,
  attestationIdOf,
  erasureRequestedData,
  EVENT_TYPES,
  type EventData,
  eventIdOf,
  evidenceRevokedData,
  grantData,
  grantRequestedData,
  type Schema,
  SCOPES,
  sharedSnapshotCreatedData,
  snapshotCreatedData,
  subjectErasedData,
  subscriptionIdOf,
  TEST_EVENT_TYPE,
  updateData,
  type UpdateEventType,
} from '@iss/domain';
import { constant, type Field, listOf } from '../describe/field';
import { EXAMPLE_IDS } from '../describe/example-ids';
import * as f from '../describe/fields';
import { part, type RecordOf, view } from '../describe/view';
import { changedPaths, changeKind, SNAPSHOT_HEADER_EXAMPLE } from '../snapshots/snapshot-header';
import { UpdateData } from '../snapshots/updates';
import { CHECKPOINT_EXAMPLE } from '../log/log';
import { paths, startsAt } from '../sharing/grant';
import {
  CANCELLED_REQUEST,
  DECLINED_REQUEST,
  EXPIRED_REQUEST,
  FULFILLED_REQUEST,
  OVERDUE_REQUEST,
  PENDING_REQUEST,
  RefreshRequestData,
} from '../sharing/refresh-requests';
import { PENDING_GRANT } from '../sharing/pending-grants';
import { PendingChange } from '../tenancy/tenants';

const SnapshotCreatedData = view(
  'SnapshotCreatedData',
  {
    subject: f.SubjectRef,
    snapshot_id: f.uuid.described('The new snapshot.'),
    snapshot_version: f.version,
    envelope_hash: f.hash.described('The envelope hash of the snapshot.'),
    prev_hash: f.hash.nullable().described('The envelope hash of the previous version; null for version 1.'),
    change_kind: changeKind,
    changed_paths: changedPaths,
  },
  'The new snapshot, without its attributes.',
);

const SubjectErasedData = view(
  'SubjectErasedData',
  {
    subject: f.SubjectRef,
    erasure_id: f.uuid.described('The erasure.'),
    versions: listOf(f.version).described('The versions whose content was destroyed, ascending.'),
    erased_at: f.sentTime.described('When the content was destroyed.'),
  },
  'The erased versions.',
);

const ErasureRequestedData = view(
  'ErasureRequestedData',
  {
    subject: f.SubjectRef,
    erasure_id: f.uuid.described('The erasure.'),
    versions: listOf(f.version).described('The versions to erase, ascending.'),
    requested_by: f.principalId.described('The principal that requested the erasure. Another human must confirm it.'),
    confirm_by: f.sentTime.described('The deadline for the confirmation.'),
  },
  'The erasure, without its reason.',
);

const ownerTenantId = f.tenantId.described('The tenant that owns the subject.');

const SharedSnapshotCreatedData = view(
  'SharedSnapshotCreatedData',
  { owner_tenant_id: ownerTenantId, ...SnapshotCreatedData.fields },
  'The new snapshot, without its attributes, and the tenant that owns it.',
);

const EvidenceRevokedData = view(
  'EvidenceRevokedData',
  {
    owner_tenant_id: ownerTenantId,
    subject: f.SubjectRef,
    snapshot_id: f.uuid.described('The latest snapshot, which names the evidence.'),
    snapshot_version: f.version,
    attestation_id: f.text.described('The revoked attestation. It is the `locator` of the evidence.'),
    revoked_at: f.sentTime.described('When the service read the revocation.'),
  },
  'The subject with revoked evidence.',
);

const GrantData = view(
  'GrantData',
  {
    grant_id: f.uuid.described('The grant.'),
    owner_tenant_id: ownerTenantId,
    grantee_tenant_id: f.tenantId.described('The tenant that got the grant.'),
    subject: part({ subject_type: f.grantedType, subject_id: f.grantedId }).described('The subject of the grant.'),
    scopes: listOf(f.oneOf<string>(SCOPES)).described('The reads that the grant permits; sorted.'),
    paths,
    starts_at: startsAt,
    expires_at: f.time.nullable().described('When the grant expires; null: never.'),
  },
  'The grant at the time of the event.',
);

const GrantRequestedData = view(
  'GrantRequestedData',
  {
    ...GrantData.fields,
    requested_by: f.principalId.described('The principal that requested the grant. Another human must confirm it.'),
    confirm_by: f.sentTime.described('The deadline for the confirmation.'),
  },
  'The requested grant, without its purpose.',
);

const ChangeRequestedData = view('ChangeRequestedData', PendingChange.fields, 'The requested change.');

const TestData = view(
  'WebhookTestData',
  { subscription_id: f.text.described('The subscription that is tested.') },
  'The tested subscription.',
);

type EventType = keyof EventData;

/** Describes one type of event. */
interface Event<Type extends EventType> {
  when: string;
  data: Field<EventData[Type], never>;
  example: EventData[Type];
}

const { subject, ...header } = SNAPSHOT_HEADER_EXAMPLE;
const SNAPSHOT = {
  subjectType: subject.subject_type,
  subjectId: subject.subject_id,
  snapshotId: header.snapshot_id,
  snapshotVersion: header.snapshot_version,
  envelopeHash: header.envelope_hash ?? '',
  prevHash: header.prev_hash,
  changeKind: header.change_kind,
  changedPaths: null,
};
const GRANT = grantData({
  grantId: EXAMPLE_IDS.grant_id,
  ownerTenantId: 'acme',
  granteeTenantId: 'beta',
  subjectType: subject.subject_type,
  subjectId: subject.subject_id,
  scopes: ['read_latest'],
  paths: null,
  startsAt: null,
  expiresAt: new Date('2026-07-01T00:00:00Z'),
});

const ERASURE = {
  subjectType: subject.subject_type,
  subjectId: subject.subject_id,
  erasureId: EXAMPLE_IDS.erasure_id,
  versions: [header.snapshot_version],
};

const UPDATE = {
  updateId: EXAMPLE_IDS.update_id,
  subjectType: subject.subject_type,
  subjectId: subject.subject_id,
  baseSnapshotId: EXAMPLE_IDS.snapshot_id,
  baseSnapshotVersion: 1,
  proposedBy: 'oidc:dev#alice',
  appliedSnapshotId: EXAMPLE_IDS.next_snapshot_id,
};

const GRANT_EVENT = { data: GrantData, example: GRANT };
const refreshEvent = (request: RecordOf<typeof RefreshRequestData>) => ({
  data: RefreshRequestData,
  example: RefreshRequestData.of(request),
});
const updateEvent = (type: UpdateEventType) => ({ data: UpdateData, example: updateData(type, UPDATE) });

const EVENTS: { readonly [Type in EventType]: Event<Type> } = {
  'identity.snapshot.created': {
    when: 'A subject of the tenant has a new snapshot.',
    data: SnapshotCreatedData,
    example: snapshotCreatedData(SNAPSHOT),
  },
  'update.proposed': {
    when: 'An update of a subject of the tenant is proposed.',
    ...updateEvent('update.proposed'),
  },
  'update.applied': {
    when: 'An update of a subject of the tenant is applied. The new snapshot also causes `identity.snapshot.created`.',
    ...updateEvent('update.applied'),
  },
  'update.withdrawn': {
    when: 'An update of a subject of the tenant is withdrawn.',
    ...updateEvent('update.withdrawn'),
  },
  'refresh_request.created': {
    when: 'A counterparty asks for a newer snapshot of a subject of the tenant.',
    ...refreshEvent(PENDING_REQUEST),
  },
  'refresh_request.fulfilled': {
    when: 'A refresh request of the tenant is fulfilled.',
    ...refreshEvent(FULFILLED_REQUEST),
  },
  'refresh_request.declined': {
    when: 'A refresh request of the tenant is declined by the owner of its subject.',
    ...refreshEvent(DECLINED_REQUEST),
  },
  'refresh_request.cancelled': {
    when: 'A counterparty cancels its refresh request of a subject of the tenant.',
    ...refreshEvent(CANCELLED_REQUEST),
  },
  'refresh_request.overdue': {
    when:
      'The `due_at` of a refresh request passed while it was `pending`. Both the owner and the requesting ' +
      'tenant get the event once.',
    ...refreshEvent(OVERDUE_REQUEST),
  },
  'refresh_request.expired': {
    when: 'A refresh request expired. Both the owner and the requesting tenant get the event once.',
    ...refreshEvent(EXPIRED_REQUEST),
  },
  'tenant.change_requested': {
    when:
      'A member requests to switch a confirmation of the tenant off. The change takes effect at ' +
      '`effective_at`, unless another human confirms it earlier or a member withdraws it.',
    data: ChangeRequestedData,
    example: changeRequestedData({
      setting: 'erasure_confirmation',
      requestedBy: 'oidc:dev#alice',
      requestedAt: '2026-01-20T08:00:00.000Z',
      effectiveAt: '2026-01-21T08:00:00.000Z',
    }),
  },
  'erasure.requested': {
    when: 'An erasure of versions of a subject waits for confirmation. Only the owner gets the event.',
    data: ErasureRequestedData,
    example: erasureRequestedData({
      ...ERASURE,
      requestedBy: 'oidc:dev#alice',
      confirmBy: new Date('2026-01-21T08:00:00Z'),
    }),
  },
  'subject.erased': {
    when:
      'Versions of a subject were erased. The tenant owns the subject, may read it by a live grant, or was shown one of the versions. Erase ' +
      'your copies of them.',
    data: SubjectErasedData,
    example: subjectErasedData({ ...ERASURE, erasedAt: new Date('2026-01-20T09:00:00Z') }),
  },
  'shared.snapshot.created': {
    when:
      'A subject that the tenant may read by a grant has a new snapshot. The service checks the grant before ' +
      'each attempt.',
    data: SharedSnapshotCreatedData,
    example: sharedSnapshotCreatedData({ ...SNAPSHOT, ownerTenantId: 'acme' }),
  },
  'evidence.revoked': {
    when:
      'An attestation that backs values of a subject was revoked. The tenant owns the subject, or may follow it by a ' +
      'grant that shows one of the values. `GET …/provenance?evidence_status=revoked` lists the values.',
    data: EvidenceRevokedData,
    example: evidenceRevokedData({
      ...SNAPSHOT,
      ownerTenantId: 'acme',
      attestationId: attestationIdOf(EXAMPLE_IDS.attestation_id),
      revokedAt: new Date('2026-02-01T08:00:00Z'),
    }),
  },
  'grant.requested': {
    when: 'A grant on all subjects of the tenant waits for confirmation. Only the grantor gets the event.',
    data: GrantRequestedData,
    example: grantRequestedData(PENDING_GRANT),
  },
  'grant.created': { when: 'The tenant issued or received a grant.', ...GRANT_EVENT },
  'grant.changed': {
    when: 'Scopes, paths, start or expiry of a grant that the tenant issued or received changed.',
    ...GRANT_EVENT,
  },
  'grant.revoked': { when: 'A grant that the tenant issued or received was revoked.', ...GRANT_EVENT },
  'grant.started': { when: 'A grant that the tenant issued or received began to give rights.', ...GRANT_EVENT },
  'grant.expiring': { when: 'A grant that the tenant issued or received expires within seven days.', ...GRANT_EVENT },
  'grant.expired': { when: 'A grant that the tenant issued or received expired.', ...GRANT_EVENT },
  'webhook.test': {
    when: 'The subscription is tested. Only the tested subscription gets the event; nobody can subscribe to it.',
    data: TestData,
    example: { subscription_id: subscriptionIdOf(EXAMPLE_IDS.subscription_id) },
  },
};

const EVENT_ID = eventIdOf('0199b2c4-8a10-7c3e-9a57-5d2f0c6b1e42');
const CHECKPOINT_HEADER = 'x-iss-log-checkpoint';

/** The headers that identify an event and its sender (specification, "Events"), with description and example. */
const HEADERS: Readonly<Record<string, readonly [description: string, example: string]>> = {
  'webhook-id': ["The event's id: the same on every attempt, redelivery and replay.", EVENT_ID],
  'webhook-timestamp': ['When this attempt was made, in Unix seconds.', '1768471201'],
  'webhook-signature': [
    '`v1,` and the base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` (Standard Webhooks). One ' +
      'signature per secret, separated by spaces.',
    'v1,I9AHRwWqjuAoNAAU5S8ytEyShVYHOHAera7TJmtNO4g=',
  ],
  'X-Service-Signature': [
    'The lowercase hex HMAC-SHA256 of the body.',
    '3279a25ceaeac5063e9a7f61ead7fd15d835c2054f9c299f5ae75636808154ed',
  ],
  [CHECKPOINT_HEADER]: [
    'The newest checkpoint of the transparency log with its Ed25519 signatures, in base64. Store the last one ' +
      'that you received. Absent if there is none, or if it is longer than 4 KiB.',
    Buffer.from(CHECKPOINT_EXAMPLE).toString('base64'),
  ],
};

/** Returns the name of an event's schema without `Event`: `GrantCreated` for `grant.created`. */
function nameOf(type: EventType): string {
  const words = type.replace('identity.', '').split(/[._]/);
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function webhookOf<Type extends EventType>(type: Type, { when, data, example }: Event<Type>): Schema {
  const name = nameOf(type);
  const body = view(`${name}Event`, {
    id: f.text.described("The event's id, also in `webhook-id`."),
    type: constant(type).described('The type of the event.'),
    created_at: f.time.described('When it happened.'),
    tenant_id: f.tenantId.described('The tenant of the subscription.'),
    data,
  });
  const value = { id: EVENT_ID, type, created_at: '2026-01-15T10:00:00.000Z', tenant_id: 'acme', data: example };
  return {
    post: {
      operationId: `receive${name}`,
      summary: when,
      description:
        'The request to a receiver. Verify `webhook-signature` over the raw bytes before you parse them; ' +
        '[/docs/webhooks](/docs/webhooks) shows how. Ignore unknown members.',
      tags: ['Webhook subscriptions'],
      security: [],
      parameters: Object.entries(HEADERS).map(([header, [description, shown]]) => ({
        name: header,
        in: 'header',
        required: header !== CHECKPOINT_HEADER,
        description,
        schema: { type: 'string' },
        example: shown,
      })),
      requestBody: { required: true, content: { 'application/json': { schema: body.facts.shown, example: value } } },
      responses: {
        '204': {
          description:
            'The receiver has stored the event. Any other 2xx has the same meaning. The service does not read the body.',
        },
        '410': { description: 'The receiver wants no more events. The service disables the subscription.' },
        default: { description: 'The receiver did not accept the event. The service retries at growing intervals.' },
      },
    },
  };
}

/** The messages that the service sends to receivers, as the `webhooks` of its OpenAPI document. */
export const WEBHOOKS: Readonly<Record<string, Schema>> = Object.fromEntries([
  ...EVENT_TYPES.map((type) => [type, webhookOf<EventType>(type, EVENTS[type])]),
  [TEST_EVENT_TYPE, webhookOf(TEST_EVENT_TYPE, EVENTS[TEST_EVENT_TYPE])],
]);
