import { AUDIT_ACTIONS, type AuditAction, RULES } from '@iss/domain';
import { count, grantedId, grantedType, line, oneOf, PAGE, principalId, text, time } from '../describe/fields';
import { view, type ViewOf } from '../describe/view';
import { shown } from '../describe/field';
import { query, type SentOf } from '../describe/shape';
import { WINDOW } from '../sharing/disclosures';
import { EXAMPLE_IDS } from '../describe/example-ids';
import { operations } from '../describe/operation';
import { paged, SHORT_PAGES } from '../describe/page';

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
      'Only changes to this object: the id of a member, grant, erasure, refresh request, transfer offer or webhook ' +
        'subscription, or the name of a limit.',
    ),
  subject_type: grantedType
    .optional()
    .example('organization')
    .described(
      'Only grants on this subject, and its erasures and refresh requests; send `subject_id` too. `*` alone: grants ' +
        'on all subjects.',
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

export const AUDIT = operations('Records', '/v1/tenants/{tenant_id}', {
  listAudit: {
    route: 'GET /audit',
    summary: 'List the audit records of the tenant, newest first',
    who: RULES.readAudit,
    ...paged('One page.', AuditEntry, [AUDIT_EXAMPLE]),
    query: AuditQuery,
    description:
      'The records cover settings, members, webhook subscriptions, transfer offers, grants, erasures and ' +
      'limits. Both the grantor and the grantee have the records of a grant; for a grant on all subjects, the ' +
      'grantee has them from its acceptance on. A change and its record are written together. A request that ' +
      `changes nothing leaves no record. ${SHORT_PAGES}`,
  },
});
