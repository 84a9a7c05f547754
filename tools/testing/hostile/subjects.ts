import { randomUUID } from 'node:crypto';
import { must, type Target } from './client.ts';

const AT = '2026-01-15T09:30:00Z';

/** A subject of the tenant that is named as it is. */
export const pathOf = (tenantId: string, subjectId = 'one'): string =>
  `/v1/tenants/${tenantId}/subjects/entity/${encodeURIComponent(subjectId)}`;

/** A valid envelope. */
export function envelope(attributes: unknown, { subjectId = 'one', version = 1 } = {}): Record<string, unknown> {
  return {
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: randomUUID(),
    snapshot_version: version,
    generated_at: AT,
    subject: { subject_type: 'entity', subject_id: subjectId },
    attributes,
    evidence: [],
    audit: { created_by: 'test', created_at: AT, source: 'test' },
  };
}

/** A tenant of `user`, who founds it. */
export async function found(target: Target, tenantId: string, user = 'attacker'): Promise<string> {
  await must(target, 'POST', '/v1/tenants', { user, body: { tenant_id: tenantId, name: tenantId } });
  return tenantId;
}

/** A tenant with one subject, named as the tenant, which has a version for each of these attributes; gives its path. */
export async function history(target: Target, tenantId: string, versions: readonly unknown[]): Promise<string> {
  await found(target, tenantId);
  for (const [index, attributes] of versions.entries()) {
    const body = envelope(attributes, { subjectId: tenantId, version: index + 1 });
    await must(target, 'POST', `/v1/tenants/${tenantId}/entity-states`, { body });
  }
  return pathOf(tenantId, tenantId);
}

/** A text of about a megabyte, once, below the limit of bodies. */
export const MEGABYTE = 'x'.repeat(1_000_000);
