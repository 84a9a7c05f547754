import { AUDIT_ACTIONS, type AuditAction } from '@iss/domain';
import {
  count,
  EXAMPLE_IDS,
  grantedId,
  grantedType,
  line,
  oneOf,
  PAGE,
  principalId,
  query,
  type SentOf,
  shown,
  text,
  time,
  view,
  type ViewOf,
} from '@iss/contract';
import { WINDOW } from './disclosure.views';

const ACTIONS = Object.keys(AUDIT_ACTIONS).filter((name): name is AuditAction => name in AUDIT_ACTIONS);
const action = oneOf(ACTIONS).described('The kind of change.');

const change = {
  type: 'object',
  additionalProperties: false,
  required: ['before', 'after'],
  properties: {
    before: { description: 'The previous value; null if there was none.' },
    after: { description: 'The new value; null if there is none.' },
  },
};

/** A change in a tenant. */
export const AuditEntry = view('AuditRecord', {
  audit_id: count.described('The number of the record in the tenant. Each record has the next number.'),
  at: time.described('When the change was made.'),
  action,
  principal_id: principalId
    .nullable()
    .described('The principal that made the change; null: the service itself, or its operator.'),
  request_id: text.nullable().described('The request that made the change; null: there was no request.'),
  target: shown<Readonly<Record<string, string>>>({
    type: 'object',
    additionalProperties: { type: 'string' },
  }).described('The ids of the changed object.'),
  details: shown<Readonly<Record<string, { before: unknown; after: unknown }>>>({
    type: 'object',
    additionalProperties: change,
  }).described('The members that changed. Never a secret, a message or an attribute.'),
});
export type AuditEntry = ViewOf<typeof AuditEntry>;

export const AuditQuery = query({
  ...PAGE,
  ...WINDOW,
  action: action.optional().example('grant.created').described('Only changes of this kind.'),
  principal_id: principalId.optional().example('oidc:dev#alice').described('Only changes by this principal.'),
  target_id: line(512)
    .optional()
    .example(EXAMPLE_IDS.grant_id)
    .described(
      'Only changes to this object: the id of a member, grant, erasure, transfer offer or webhook subscription, ' +
        'or the name of a limit.',
    ),
  subject_type: grantedType
    .optional()
    .example('organization')
    .described(
      'Only grants on this subject and erasures of it; send `subject_id` too. `*` alone: grants on all subjects.',
    ),
  subject_id: grantedId.optional().example('acme-corp').described('The subject’s id, compared byte for byte.'),
});
export type AuditQuery = SentOf<typeof AuditQuery>;

export const AUDIT_EXAMPLE: AuditEntry = {
  audit_id: 7,
  at: '2026-01-20T09:00:00.000Z',
  action: 'grant.created',
  principal_id: 'oidc:dev#alice',
  request_id: 'quarterly-review-3',
  target: {
    grant_id: EXAMPLE_IDS.grant_id,
    grantor_tenant_id: 'acme',
    grantee_tenant_id: 'beta',
    subject_type: 'organization',
    subject_id: 'acme-corp',
  },
  details: { scopes: { before: null, after: ['read_latest'] } },
};
