import { CONFIRMATION_SETTINGS, CONFIRMATIONS, EVIDENCE_POLICIES } from '@iss/domain';
import type { TenantOfMember, TenantRecord } from '@iss/persistence';
import {
  alias,
  body,
  count,
  flag,
  line,
  listOf,
  oneOf,
  part,
  principalId,
  query,
  role,
  type SentOf,
  sentTime,
  shown,
  tenancyRole,
  tenantId,
  text,
  time,
  view,
  type ViewOf,
} from '@iss/contract';

const name = line(256).described('The name of the tenant.');
const slugOf = 'A short name for URLs; null if there is none.';

const POLICY =
  'The evidence that the tenant requires in its writes. `open` requires none. With `resolved`, every path in ' +
  '`attribute_paths` must exist, and every reference must resolve. With `fresh`, each new or changed value also needs ' +
  'evidence that the previous version did not have, or a reference that is newly `corroborating`.';
const confirmation = oneOf(CONFIRMATIONS).described(
  '`required` if a second human must confirm an erasure. `off` is for tenants of one person.',
);
const grantConfirmation = oneOf(CONFIRMATIONS).described(
  '`required` if a second human must confirm a grant on all subjects.',
);

const PendingChange = part({
  setting: oneOf(CONFIRMATION_SETTINGS).described('The setting that becomes `off`.'),
  requested_by: principalId.nullable().described('The principal that requested the change; null: the operator.'),
  requested_at: sentTime.described('When the change was requested.'),
  effective_at: sentTime.described('When the change takes effect, unless another human confirms it earlier.'),
});

const TenantFields = part({
  tenant_id: tenantId,
  name,
  slug: tenantId.nullable().described(slugOf),
  created_at: time.described('When the tenant was created.'),
  chain_enforced: flag.described('True if an update cannot be applied to a parent without envelope_hash.'),
  evidence_policy: oneOf(EVIDENCE_POLICIES).described(POLICY),
  erasure_confirmation: confirmation,
  grant_confirmation: grantConfirmation,
  pending_changes: listOf(PendingChange).described(
    'Requests to switch a confirmation off. Another human confirms one by sending the same request; ' +
      '`required` withdraws it.',
  ),
});

/** The caller's roles in the tenant. The specification uses two names for the first. */
const caller = {
  api_functional_role: role.from('role').described('The caller’s role.'),
  role: alias('api_functional_role'),
  tenancy_role: tenancyRole.described('The caller’s role.'),
};
const wrapped = { tenant: TenantFields.fromRecord().deprecated().described('The same fields, wrapped.') };

/** A tenant in both forms of the specification: flat, and wrapped. */
export const Tenant = view('Tenant', { ...TenantFields.fields, ...wrapped });
export type Tenant = ViewOf<typeof Tenant>;

/** An item of the caller's list of tenants. */
export const TenantItem = view('TenantItem', { ...TenantFields.fields, ...caller });
export type TenantItem = ViewOf<typeof TenantItem>;

export const TenantOfCaller = view('TenantOfMember', { ...TenantFields.fields, ...caller, ...wrapped });
export type TenantOfCaller = ViewOf<typeof TenantOfCaller>;

/** Returns the record for {@link TenantItem} and {@link TenantOfCaller}. */
export function withCaller({
  tenant,
  role: callerRole,
  tenancyRole: administrative,
}: TenantOfMember): TenantRecord & Omit<TenantOfMember, 'tenant'> {
  return { ...tenant, role: callerRole, tenancyRole: administrative };
}

/** Specification, "Tenants, members, principals": the response of `/usage`. */
export const Usage = view('Usage', {
  tenant_id: tenantId,
  window: part({
    from: time.described('The first instant of the window.'),
    to: time.described('The last instant of the window.'),
  }).described('The counted period.'),
  usage: listOf(
    part({
      date: shown<string>({ type: 'string', format: 'date' }).described('A UTC date.'),
      snapshot_writes: count.described('The number of snapshots written.'),
    }),
  )
    .from('days')
    .described('One row per day, ascending.'),
});
export type Usage = ViewOf<typeof Usage>;

const slug = tenantId.nullable().optional().described(slugOf);
const REFUSE = 'Refuse to apply updates to a parent without envelope_hash.';
const chainEnforced = flag.optional().described(REFUSE);
const evidencePolicy = oneOf(EVIDENCE_POLICIES).optional().described(POLICY).example('resolved');

/** Body of `POST /v1/tenants` (specification, "Tenants, members, principals"). */
export const CreateTenantBody = body(
  'CreateTenantBody',
  {
    tenant_id: tenantId.example('acme'),
    name: name.example('Acme Corporation'),
    slug: slug.example('acme'),
    chain_enforced: chainEnforced.described(`${REFUSE} Defaults to true.`),
    evidence_policy: evidencePolicy.described(`${POLICY} Defaults to \`open\`.`),
  },
  { tenant: { value: { tenant_id: 'acme', name: 'Acme Corporation', slug: 'acme' } } },
);
export type CreateTenantBody = SentOf<typeof CreateTenantBody>;

/** Body of `PATCH /v1/tenants/{tenant_id}`: at least one field. `tenant_id` cannot change. */
export const PatchTenantBody = body(
  'PatchTenantBody',
  {
    name: name.optional().example('Acme Corporation'),
    slug: slug.described('Null removes the slug.').example('acme'),
    chain_enforced: chainEnforced,
    evidence_policy: evidencePolicy,
    erasure_confirmation: confirmation.optional(),
    grant_confirmation: grantConfirmation.optional(),
  },
  { name: { value: { name: 'Acme Corporation' } } },
);
export type PatchTenantBody = SentOf<typeof PatchTenantBody>;

export const UsageQuery = query({
  from: text.optional().example('2026-01-15').described('An ISO 8601 date-time with a timezone, or a UTC date.'),
  to: text
    .optional()
    .example('2026-01-16')
    .described('An ISO 8601 date-time with a timezone, or a UTC date for the end of that day.'),
});
export type UsageQuery = SentOf<typeof UsageQuery>;

export const ACME: TenantRecord = {
  tenantId: 'acme',
  name: 'Acme Corporation',
  slug: 'acme',
  createdAt: new Date('2026-01-15T09:00:00Z'),
  chainEnforced: true,
  evidencePolicy: 'open',
  erasureConfirmation: 'required',
  grantConfirmation: 'off',
  pendingChanges: [],
};
export const ACME_OF_ALICE = withCaller({ tenant: ACME, role: 'tenant_owner', tenancyRole: 'account_admin' });
export const USAGE_EXAMPLE = Usage.of({
  tenantId: 'acme',
  window: { from: new Date('2026-01-15T00:00:00Z'), to: new Date('2026-01-16T23:59:59.999Z') },
  days: [
    { date: '2026-01-15', snapshotWrites: 1 },
    { date: '2026-01-16', snapshotWrites: 0 },
  ],
});
