import type { Client } from 'pg';

/** Contents of the tables that statistics may describe. */
export interface TableState {
  rows: number;
  /** Rows of one tenant, or of one tenant each. */
  tenants: 'one' | 'many';
  /** Rows about one subject (subscription, delivery), or about one each. With `all`, grants are on all subjects. */
  subjects: 'one' | 'many' | 'all';
  /** True if everything is done, revoked and deleted. */
  isDone: boolean;
}

const EACH = ['one', 'many'] as const;

/** All combinations for small tables, for which most plans cost the same, and some for larger tables. */
export const TABLE_STATES: readonly TableState[] = [
  ...EACH.flatMap((tenants) =>
    EACH.flatMap((subjects) => [false, true].map((isDone) => ({ rows: 30, tenants, subjects, isDone }))),
  ),
  ...EACH.map((each) => ({ rows: 3000, tenants: each, subjects: each, isDone: false })),
  ...EACH.flatMap((tenants) => [30, 3000].map((rows) => ({ rows, tenants, subjects: 'all' as const, isDone: false }))),
];

/**
 * The smallest set of states that changes every plan which any of {@link TABLE_STATES} changes. It was found by planning all
 * statements in every state, without each of the planner's settings and without all of them.
 */
export const TELLING_STATES: readonly TableState[] = [
  { rows: 30, tenants: 'many', subjects: 'many', isDone: true },
  { rows: 30, tenants: 'one', subjects: 'all', isDone: false },
  { rows: 30, tenants: 'one', subjects: 'one', isDone: true },
  { rows: 30, tenants: 'many', subjects: 'one', isDone: false },
  { rows: 30, tenants: 'one', subjects: 'one', isDone: false },
];

/** Returns the columns of row `n` of each table as SQL. Other columns keep their defaults. */
function tablesIn({ tenants, subjects, isDone }: TableState): Record<string, Record<string, string>> {
  const tenant = tenants === 'one' ? `'t-1'` : `'t-' || n`;
  const subject = subjects === 'many' ? 'n' : '1';
  const granted = subjects === 'all' ? '0' : subject;
  const owner = subjects !== 'many' ? `'00000000-0000-7000-8000-000000000000'::uuid` : 'gen_random_uuid()';
  const created = { created_at: `now() - n * interval '1 minute'` };
  const whenDone = (value: string): string => (isDone ? value : 'NULL');
  return {
    tenants: { tenant_id: `'t-' || n`, name: `'x'` },
    memberships: {
      tenant_id: tenant,
      principal_id: `'p-' || n`,
      api_functional_role: `'tenant_reader'`,
      status: isDone ? `'removed'` : `'active'`,
    },
    subjects: {
      subject_type: `'organization'`,
      subject_id: `'s-' || n`,
      owner_tenant_id: tenant,
      name: `'n-' || n`,
      ...created,
    },
    subject_identifiers: {
      subject_key: subject,
      scheme: `'s-' || n`,
      value: `'v'`,
      owner_tenant_id: tenant,
      subject_type: `'organization'`,
    },
    snapshots: {
      subject_key: subject,
      snapshot_version: 'n',
      snapshot_id: 'gen_random_uuid()',
      tenant_id: tenant,
      generated_at: `'x'`,
      envelope_hash: whenDone(`sha256('{}')`),
      envelope: `'{}'`,
      ...created,
    },
    snapshot_views: { subject_key: subject, snapshot_version: 'n', view_secret: `sha256('')`, view_hash: `sha256('')` },
    updates: {
      update_id: 'gen_random_uuid()',
      tenant_id: tenant,
      subject_key: subject,
      base_snapshot_id: 'gen_random_uuid()',
      base_snapshot_version: '1',
      patch_ops: `'[]'`,
      status: isDone ? `'applied'` : `'proposed'`,
      request_id: isDone ? 'NULL' : `'r-' || n`,
      proposed_by: `'p'`,
      applied_snapshot_id: whenDone('gen_random_uuid()'),
      ...created,
    },
    grants: {
      grant_id: 'gen_random_uuid()',
      grantor_tenant_id: tenant,
      grantee_tenant_id: tenant,
      subject_key: granted,
      scopes: `'{read_latest}'`,
      revoked_at: whenDone('now()'),
      ...created,
    },
    pending_grants: {
      grant_id: 'gen_random_uuid()',
      grantor_tenant_id: tenant,
      grantee_tenant_id: tenant,
      scopes: `'{read_latest}'`,
      requested_by: `'p-' || n`,
      ...created,
    },
    grant_changes: {
      grant_id: owner,
      grantor_tenant_id: tenant,
      subject_key: granted,
      scopes: `'{read_latest}'`,
      from_scopes: `'{read_diff}'`,
      changed_by: `'p'`,
      changed_at: `now() - n * interval '1 minute'`,
    },
    webhook_subscriptions: {
      subscription_id: 'gen_random_uuid()',
      tenant_id: tenant,
      target_url: `'u'`,
      event_types: `'{identity.snapshot.created}'`,
      secret_sealed: `'x'`,
      secret_fingerprint: `'x'`,
      deleted_at: whenDone('now()'),
      ...created,
    },
    webhook_subscription_types: {
      tenant_id: tenant,
      event_type: `'identity.snapshot.created'`,
      subscription_id: 'gen_random_uuid()',
      created_at: 'now()',
    },
    outbox_events: {
      event_id: 'gen_random_uuid()',
      tenant_id: tenant,
      event_type: `'identity.snapshot.created'`,
      body: `'{}'`,
      fanned_out_at: whenDone('now()'),
      ...created,
    },
    deliveries: {
      delivery_id: 'gen_random_uuid()',
      event_id: 'gen_random_uuid()',
      subscription_id: owner,
      tenant_id: tenant,
      event_type: `'identity.snapshot.created'`,
      status: isDone ? `'succeeded'` : `'pending'`,
      ...created,
    },
    delivery_attempts: { delivery_id: owner, attempt: 'n', started_at: 'now()', latency_ms: '1' },
    refresh_requests: {
      refresh_request_id: 'gen_random_uuid()',
      subject_key: subject,
      requesting_tenant_id: tenant,
      requested_by: `'p'`,
      origin_type: `'owner'`,
      status: isDone ? `'fulfilled'` : `'pending'`,
      // Half of the requests are overdue.
      due_at: `now() + (n % 2 * 2 - 1) * n * interval '1 minute'`,
      resolved_at: whenDone('now()'),
      resolved_snapshot_id: whenDone('gen_random_uuid()'),
      resolved_snapshot_version: whenDone('1'),
      ...created,
    },
    transfer_offers: {
      offer_id: 'gen_random_uuid()',
      tenant_id: tenant,
      from_principal_id: `'p'`,
      to_principal_id: `'q'`,
      status: `'declined'`,
      ...created,
    },
    idempotency_keys: {
      key_hash: `sha256(('k-' || n)::bytea)`,
      body_hash: `sha256('x')`,
      started_at: `now() - n * interval '1 minute'`,
    },
    rate_limits: { principal_id: `'p-' || n`, window_start: 'now()', used: '1' },
    disclosures: {
      subject_key: subject,
      disclosed_on: `current_date - n`,
      grantee_tenant_id: tenant,
      principal_id: `'p-' || n`,
      via: `'snapshot'`,
      from_version: '1',
      to_version: '1',
      request_id: `'r-' || n`,
      first_at: `now() - n * interval '1 minute'`,
    },
    audit_records: {
      tenant_id: tenant,
      at: `now() - n * interval '1 minute'`,
      action: `'tenant.changed'`,
      target: `'{}'`,
      details: `'{}'`,
    },
    records_waiting: { record_ids: `ARRAY[n]`, tenant_id: tenant, entry_type: '11' },
    record_batches: {
      entry_type: '11',
      tenant_id: tenant,
      record_ids: `ARRAY[n]`,
      digests: `'\\x00000000'`,
    },
    limit_overrides: {
      scope: isDone ? `'principal'` : `'tenant'`,
      scope_id: `'t-' || n`,
      limit_name: `'members_per_tenant'`,
      value: '1',
    },
  };
}

/** Replaces the rows of all tables and updates the statistics. `superuser`: nobody else may delete snapshots. */
export async function takeStatistics(superuser: Client, state: TableState): Promise<void> {
  const tables = Object.entries(tablesIn(state));
  // Disables triggers and foreign keys, because only the statistics of the rows matter.
  await superuser.query('SET session_replication_role = replica');
  for (const [table, columns] of tables) {
    await superuser.query(`DELETE FROM ${table}`);
    await superuser.query(
      `INSERT INTO ${table} (${Object.keys(columns).join(', ')})
       SELECT ${Object.values(columns).join(', ')} FROM generate_series(1, $1::int) n`,
      [state.rows],
    );
  }
  await superuser.query('ANALYZE');
}
