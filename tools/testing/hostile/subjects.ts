import { randomUUID } from 'node:crypto';
import { must, type Target } from './client.ts';

const AT = '2026-01-15T09:30:00Z';

/** Returns the path of a subject of a tenant. */
export const pathOf = (tenantId: string, subjectId = 'one'): string =>
  `/v1/tenants/${tenantId}/subjects/entity/${encodeURIComponent(subjectId)}`;

/** Returns a valid envelope. */
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

/** Creates a tenant that `user` founds. */
export async function found(target: Target, tenantId: string, user = 'attacker'): Promise<string> {
  await must(target, 'POST', '/v1/tenants', { user, body: { tenant_id: tenantId, name: tenantId } });
  return tenantId;
}

/** Creates a tenant with a subject that has a version for each of these attributes. Returns the subject's path. */
export async function history(target: Target, tenantId: string, versions: readonly unknown[]): Promise<string> {
  await found(target, tenantId);
  for (const [index, attributes] of versions.entries()) {
    const body = envelope(attributes, { subjectId: tenantId, version: index + 1 });
    await must(target, 'POST', `/v1/tenants/${tenantId}/entity-states`, { body });
  }
  return pathOf(tenantId, tenantId);
}

/** A text of about a megabyte, below the limit of bodies. */
export const MEGABYTE = 'x'.repeat(1_000_000);
