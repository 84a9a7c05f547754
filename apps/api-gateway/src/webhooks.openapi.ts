import {
  erasureRequestedData,
  EVENT_TYPES,
  type EventData,
  eventIdOf,
  grantData,
  type Schema,
  SCOPES,
  sharedSnapshotCreatedData,
  snapshotCreatedData,
  subjectErasedData,
  subscriptionIdOf,
  TEST_EVENT_TYPE,
  updateData,
} from '@iss/domain';
import {
  constant,
  EXAMPLE_IDS,
  type Field,
  hash,
  listOf,
  oneOf,
  principalId,
  sentTime,
  SubjectRef,
  tenantId,
  text,
  time,
  uuid,
  version,
  view,
} from '@iss/contract';
import { SNAPSHOT_HEADER_EXAMPLE } from './http/answer/snapshot-header.view';
import { UpdateData } from './modules/identity-state/updates/update.views';
import { CHECKPOINT_EXAMPLE } from './modules/transparency-log/log.views';
import {
  CANCELLED,
  DECLINED,
  EXPIRED,
  FULFILLED,
  OVERDUE,
  PENDING,
  RefreshRequestData,
} from './modules/refresh-requests/refresh-request.views';

const SnapshotCreatedData = view(
  'SnapshotCreatedData',
  {
    subject: SubjectRef,
    snapshot_id: uuid.described('The new snapshot.'),
    snapshot_version: version,
    envelope_hash: hash.described('The envelope hash of the snapshot.'),
    prev_hash: hash.nullable().described('The envelope hash of the previous version; null for version 1.'),
  },
  'The new snapshot, without its attributes.',
);

const SubjectErasedData = view(
  'SubjectErasedData',
  {
    subject: SubjectRef,
    erasure_id: uuid.described('The erasure.'),
    versions: listOf(version).described('The versions whose content was destroyed, ascending.'),
    erased_at: sentTime.described('When the content was destroyed.'),
  },
  'The erased versions.',
);

const ErasureRequestedData = view(
  'ErasureRequestedData',
  {
    subject: SubjectRef,
    erasure_id: uuid.described('The erasure.'),
    versions: listOf(version).described('The versions to erase, ascending.'),
    requested_by: principalId.described('The principal that requested the erasure. Another human must confirm it.'),
    confirm_by: sentTime.described('The deadline for the confirmation.'),
  },
  'The erasure, without its reason.',
);

const ownerTenantId = tenantId.described('The tenant that owns the subject.');

const SharedSnapshotCreatedData = view(
  'SharedSnapshotCreatedData',
  { owner_tenant_id: ownerTenantId, ...SnapshotCreatedData.fields },
  'The new snapshot, without its attributes, and the tenant that owns it.',
);

const GrantData = view(
  'GrantData',
  {
    grant_id: uuid.described('The grant.'),
    owner_tenant_id: ownerTenantId,
    grantee_tenant_id: tenantId.described('The tenant that got the grant.'),
    subject: SubjectRef,
    scopes: listOf(oneOf<string>(SCOPES)).described('The reads that the grant permits; sorted.'),
    expires_at: time.nullable().described('When the grant expires; null: never.'),
  },
  'The grant at the time of the event.',
);

const TestData = view(
  'WebhookTestData',
  { subscription_id: text.described('The subscription that is tested.') },
  'The tested subscription.',
);

type EventType = keyof EventData;

/** Describes one type of event. */
interface Event<Type extends EventType> {
  /** The name of its schema without `Event`. */
  name: string;
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
};
const GRANT = grantData({
  grantId: EXAMPLE_IDS.grant_id,
  ownerTenantId: 'acme',
  granteeTenantId: 'beta',
  subjectType: subject.subject_type,
  subjectId: subject.subject_id,
  scopes: ['read_latest'],
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

const EVENTS: { readonly [Type in EventType]: Event<Type> } = {
  'identity.snapshot.created': {
    name: 'SnapshotCreated',
    when: 'A subject of the tenant has a new snapshot.',
    data: SnapshotCreatedData,
    example: snapshotCreatedData(SNAPSHOT),
  },
  'update.proposed': {
    name: 'UpdateProposed',
    when: 'An update of a subject of the tenant is proposed.',
    data: UpdateData,
    example: updateData('update.proposed', UPDATE),
  },
  'update.applied': {
    name: 'UpdateApplied',
    when: 'An update of a subject of the tenant is applied. The new snapshot also causes `identity.snapshot.created`.',
    data: UpdateData,
    example: updateData('update.applied', UPDATE),
  },
  'update.withdrawn': {
    name: 'UpdateWithdrawn',
    when: 'An update of a subject of the tenant is withdrawn.',
    data: UpdateData,
    example: updateData('update.withdrawn', UPDATE),
  },
  'refresh_request.created': {
    name: 'RefreshRequestCreated',
    when: 'A counterparty asks for a newer snapshot of a subject of the tenant.',
    data: RefreshRequestData,
    example: RefreshRequestData.of(PENDING),
  },
  'refresh_request.fulfilled': {
    name: 'RefreshRequestFulfilled',
    when: 'A refresh request of the tenant is fulfilled.',
    data: RefreshRequestData,
    example: RefreshRequestData.of(FULFILLED),
  },
  'refresh_request.declined': {
    name: 'RefreshRequestDeclined',
    when: 'A refresh request of the tenant is declined by the owner of its subject.',
    data: RefreshRequestData,
    example: RefreshRequestData.of(DECLINED),
  },
  'refresh_request.cancelled': {
    name: 'RefreshRequestCancelled',
    when: 'A counterparty cancels its refresh request of a subject of the tenant.',
    data: RefreshRequestData,
    example: RefreshRequestData.of(CANCELLED),
  },
  'refresh_request.overdue': {
    name: 'RefreshRequestOverdue',
    when:
      'The `due_at` of a refresh request passed while it was `pending`. Both the owner and the requesting ' +
      'tenant get the event once.',
    data: RefreshRequestData,
    example: RefreshRequestData.of(OVERDUE),
  },
  'refresh_request.expired': {
    name: 'RefreshRequestExpired',
    when: 'A refresh request expired. Both the owner and the requesting tenant get the event once.',
    data: RefreshRequestData,
    example: RefreshRequestData.of(EXPIRED),
  },
  'erasure.requested': {
    name: 'ErasureRequested',
    when: 'An erasure of versions of a subject waits for confirmation. Only the owner gets the event.',
    data: ErasureRequestedData,
    example: erasureRequestedData({
      ...ERASURE,
      requestedBy: 'oidc:dev#alice',
      confirmBy: new Date('2026-01-21T08:00:00Z'),
    }),
  },
  'subject.erased': {
    name: 'SubjectErased',
    when:
      'Versions of a subject were erased that the tenant owns, may read by a live grant, or was shown. Erase ' +
      'your copies of them.',
    data: SubjectErasedData,
    example: subjectErasedData({ ...ERASURE, erasedAt: new Date('2026-01-20T09:00:00Z') }),
  },
  'shared.snapshot.created': {
    name: 'SharedSnapshotCreated',
    when:
      'A subject that the tenant may read by a grant has a new snapshot. The service checks the grant before ' +
      'each attempt.',
    data: SharedSnapshotCreatedData,
    example: sharedSnapshotCreatedData({ ...SNAPSHOT, ownerTenantId: 'acme' }),
  },
  'grant.created': {
    name: 'GrantCreated',
    when: 'The tenant issued or received a grant.',
    data: GrantData,
    example: GRANT,
  },
  'grant.changed': {
    name: 'GrantChanged',
    when: 'The scopes or the end of a grant that the tenant issued or received changed.',
    data: GrantData,
    example: GRANT,
  },
  'grant.revoked': {
    name: 'GrantRevoked',
    when: 'A grant that the tenant issued or received was revoked.',
    data: GrantData,
    example: GRANT,
  },
  'grant.expiring': {
    name: 'GrantExpiring',
    when: 'A grant that the tenant issued or received expires within seven days.',
    data: GrantData,
    example: GRANT,
  },
  'grant.expired': {
    name: 'GrantExpired',
    when: 'A grant that the tenant issued or received expired.',
    data: GrantData,
    example: GRANT,
  },
  'webhook.test': {
    name: 'WebhookTest',
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
    'v1,o5dSg9OckuCu8zlZr5EZPeN0KZyhFOrNrA2lgPGm1JI=',
  ],
  'X-Service-Signature': [
    'The lowercase hex HMAC-SHA256 of the body.',
    '01449ce8cb8bbaca9073cde362868cb279f4c0da1e410e54c1d0d9d5c4bc719f',
  ],
  [CHECKPOINT_HEADER]: [
    'The newest checkpoint of the transparency log with its Ed25519 signatures, in base64. Store the last one ' +
      'that you received. Absent if there is none, or if it is longer than 4 KiB.',
    Buffer.from(CHECKPOINT_EXAMPLE).toString('base64'),
  ],
};

function webhookOf<Type extends EventType>(type: Type, { name, when, data, example }: Event<Type>): Schema {
  const body = view(`${name}Event`, {
    id: text.described("The event's id, also in `webhook-id`."),
    type: constant(type).described('The type of the event.'),
    created_at: time.described('When it happened.'),
    tenant_id: tenantId.described('The tenant of the subscription.'),
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
