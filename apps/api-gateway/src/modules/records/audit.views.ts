import { AUDIT_ACTIONS, type AuditAction } from '@iss/domain';
import { shown } from '../../http/describe/field';
import { view, type ViewOf } from '../../http/describe/view';
import { count, oneOf, PAGE, principalId, text, time } from '../../http/request/fields';
import { query, type SentOf } from '../../http/request/shape';
import { WINDOW } from './disclosure.views';

const ACTIONS = Object.keys(AUDIT_ACTIONS).filter((name): name is AuditAction => name in AUDIT_ACTIONS);
const action = oneOf(ACTIONS).described('What was done.');

const change = {
  type: 'object',
  additionalProperties: false,
  required: ['before', 'after'],
  properties: {
    before: { description: 'What it was; null: there was none.' },
    after: { description: 'What it became; null: there is none.' },
  },
};

/** One thing that was changed in a tenant. */
export const AuditEntry = view('AuditRecord', {
  audit_id: count.described('Its number, which no other record of the tenant has: each is one more than the last.'),
  at: time.described('When.'),
  action,
  principal_id: principalId.nullable().described('Who did it; null: the service itself, or its operator.'),
  request_id: text.nullable().described('The request that did it; null: none did.'),
  target: shown<Readonly<Record<string, string>>>({
    type: 'object',
    additionalProperties: { type: 'string' },
  }).described('The ids of what was changed.'),
  details: shown<Readonly<Record<string, { before: unknown; after: unknown }>>>({
    type: 'object',
    additionalProperties: change,
  }).described('Each member that changed. Never a secret, a message or an attribute.'),
});
export type AuditEntry = ViewOf<typeof AuditEntry>;

/** Query of the audit trail. */
export const AuditQuery = query({
  ...PAGE,
  ...WINDOW,
  action: action.optional().example('member.changed').described('Only this.'),
  principal_id: principalId.optional().example('oidc:dev#alice').described('Only what this principal did.'),
});
export type AuditQuery = SentOf<typeof AuditQuery>;

export const AUDIT_EXAMPLE: AuditEntry = {
  audit_id: 7,
  at: '2026-01-20T09:00:00.000Z',
  action: 'member.changed',
  principal_id: 'oidc:dev#alice',
  request_id: 'quarterly-review-3',
  target: { principal_id: 'oidc:dev#carol' },
  details: { api_functional_role: { before: 'tenant_reader', after: 'tenant_proposer' } },
};
