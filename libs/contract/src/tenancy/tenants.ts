import { CONFIRMATION_SETTINGS, CONFIRMATIONS, EVIDENCE_POLICIES, RULES } from '@iss/domain';
import * as f from '../describe/fields';
import { part, type RecordOf, view, type ViewOf } from '../describe/view';
import { alias, listOf, shown } from '../describe/field';
import { body, query, type SentOf } from '../describe/shape';
import { answer, operations } from '../describe/operation';
import { paged } from '../describe/page';

const name = f.line(256).described('The name of the tenant.');
const slugOf = 'A short name for URLs; null if there is none.';

const POLICY =
  'The evidence that the tenant requires in its writes. `open` requires none. With `resolved`, every path in ' +
  '`attribute_paths` must exist, and every reference must resolve. With `fresh`, each new or changed value also needs ' +
  'evidence that the previous version did not have, or a reference that is newly `corroborating`.';

const confirmation = f
  .oneOf(CONFIRMATIONS)
  .described('`required` if a second human must confirm an erasure. `off` is for tenants of one person.');

const grantConfirmation = f
  .oneOf(CONFIRMATIONS)
  .described('`required` if a second human must confirm a grant on all subjects.');

/** A request to switch off a setting that demands a second human. */
export const PendingChange = part({
  setting: f.oneOf(CONFIRMATION_SETTINGS).described('The setting that becomes `off`.'),
  requested_by: f.principalId.nullable().described('The principal that requested the change; null: the operator.'),
  requested_at: f.sentTime.described('When the change was requested.'),
  effective_at: f.sentTime.described('When the change takes effect, unless another human confirms it earlier.'),
});

const TenantFields = part({
  tenant_id: f.tenantId,
  name,
  slug: f.tenantId.nullable().described(slugOf),
  created_at: f.time.described('When the tenant was created.'),
  chain_enforced: f.flag.described('True if an update cannot be applied to a parent without envelope_hash.'),
  evidence_policy: f.oneOf(EVIDENCE_POLICIES).described(POLICY),
  erasure_confirmation: confirmation,
  grant_confirmation: grantConfirmation,
  pending_changes: listOf(PendingChange).described(
    'Requests to switch a confirmation off. Another human confirms one by sending the same request; ' +
      '`required` withdraws it.',
  ),
});

/** The caller's roles in the tenant. The specification uses two names for the first. */
const caller = {
  api_functional_role: f.role.from('role').described('The caller’s role.'),
  role: alias('api_functional_role'),
  tenancy_role: f.tenancyRole.described('The caller’s role.'),
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

/** Specification, "Tenants, members, principals": the response of `/usage`. */
export const Usage = view('Usage', {
  tenant_id: f.tenantId,
  window: part({
    from: f.time.described('The first instant of the window.'),
    to: f.time.described('The last instant of the window.'),
  }).described('The counted period.'),
  usage: listOf(
    part({
      date: shown<string>({ type: 'string', format: 'date' }).described('A UTC date.'),
      snapshot_writes: f.count.described('The number of snapshots written.'),
    }),
  )
    .from('days')
    .described('One row per day, ascending.'),
});
export type Usage = ViewOf<typeof Usage>;

const slug = f.tenantId.nullable().optional().described(slugOf);
const REFUSE = 'Refuse to apply updates to a parent without envelope_hash.';
const chainEnforced = f.flag.optional().described(REFUSE);
const evidencePolicy = f.oneOf(EVIDENCE_POLICIES).optional().described(POLICY).example('resolved');

/** Body of `POST /v1/tenants` (specification, "Tenants, members, principals"). */
export const CreateTenantBody = body(
  'CreateTenantBody',
  {
    tenant_id: f.tenantId.example('acme'),
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
  from: f.text.optional().example('2026-01-15').described('An ISO 8601 date-time with a timezone, or a UTC date.'),
  to: f.text
    .optional()
    .example('2026-01-16')
    .described('An ISO 8601 date-time with a timezone, or a UTC date for the end of that day.'),
});
export type UsageQuery = SentOf<typeof UsageQuery>;

export const ACME: RecordOf<typeof Tenant> = {
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

const ACME_OF_ALICE = { ...ACME, role: 'tenant_owner', tenancyRole: 'account_admin' } as const;

const USAGE_EXAMPLE = Usage.of({
  tenantId: 'acme',
  window: { from: new Date('2026-01-15T00:00:00Z'), to: new Date('2026-01-16T23:59:59.999Z') },
  days: [
    { date: '2026-01-15', snapshotWrites: 1 },
    { date: '2026-01-16', snapshotWrites: 0 },
  ],
});

export const TENANTS = operations('Tenants, members, principals', '/v1/tenants', {
  createTenant: {
    route: 'POST ',
    summary: 'Create a tenant',
    who: 'any_principal',
    body: CreateTenantBody,
    description:
      'A human caller becomes its `tenant_owner`, any other caller its `tenant_admin`. Both become ' +
      '`account_admin`. A caller that is not human can hand the tenant to a human owner by a transfer offer.',
    answers: { 201: answer('The tenant, flat and wrapped.', Tenant, Tenant.of(ACME)) },
    errors: ['conflict'],
  },
  listTenants: {
    route: 'GET ',
    summary: "List the caller's tenants, with its role in each",
    who: 'any_principal',
    ...paged('One page.', TenantItem, [TenantItem.of(ACME_OF_ALICE)]),
    description: 'The list has the tenants in which the caller is an active member, ordered by `tenant_id`.',
  },
  getTenant: {
    route: 'GET /{tenant_id}',
    summary: "Read one of the caller's tenants",
    who: RULES.readTenant,
    answers: {
      200: answer(
        "The tenant, flat and wrapped, with the caller's role.",
        TenantOfCaller,
        TenantOfCaller.of(ACME_OF_ALICE),
      ),
    },
  },
  updateTenant: {
    route: 'PATCH /{tenant_id}',
    summary: 'Change a tenant: name, slug, chain_enforced, evidence_policy, erasure_confirmation, grant_confirmation',
    who: RULES.changeTenant,
    body: PatchTenantBody,
    description:
      'Send at least one field. `tenant_id` never changes. Only a human can change a confirmation (422 ' +
      'otherwise). A request to switch one off is first listed in `pending_changes`. It takes effect after a ' +
      'day, or when another human with at least the role `tenant_admin` sends the same request. `required` withdraws it.',
    answers: { 200: answer('The tenant, flat and wrapped.', Tenant, Tenant.of(ACME)) },
    errors: ['conflict', 'human_principal_required'],
  },
  getUsage: {
    route: 'GET /{tenant_id}/usage',
    summary: 'Read the snapshots written per UTC day',
    who: RULES.readUsage,
    query: UsageQuery,
    description:
      'The response has one row for every UTC day in the window, including days without writes. Both bounds are ' +
      'inclusive. Send both or neither: the default is the last 30 days. At most 366 days.',
    answers: { 200: answer('The usage.', Usage, USAGE_EXAMPLE) },
  },
});
