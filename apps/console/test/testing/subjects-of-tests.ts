import { randomUUID } from 'node:crypto';
import type { Scene } from './scene.ts';

/**
 * Owns the tenants of the suites that need one. It is not in the world, because other suites look at the tenants of the
 * world.
 */
export const OWNER = 'olga';

/** Creates a tenant for this suite, owned by `OWNER`. */
export async function makeTenant(scene: Scene): Promise<string> {
  const tenantId = `console-${randomUUID()}`;
  const { status } = await scene.api(OWNER, 'POST', '/v1/tenants', {
    tenant_id: tenantId,
    name: 'A tenant of a test',
  });
  if (status !== 201) throw new Error(`No tenant: ${status}`);
  return tenantId;
}

export interface EnvelopeChanges {
  version?: number;
  type?: 'organization' | 'individual' | 'entity';
  generatedAt?: string;
  attributes?: unknown;
  evidence?: readonly unknown[];
  attributePaths?: unknown;
}

/** A version as its writer sends it. Ids of subjects are global, so each suite uses others. */
export function envelope(
  subjectId: string,
  { version = 1, type = 'organization', generatedAt, attributes, evidence = [], attributePaths }: EnvelopeChanges = {},
): Record<string, unknown> {
  const at = generatedAt ?? new Date().toISOString();
  return {
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: randomUUID(),
    snapshot_version: version,
    generated_at: at,
    subject: { subject_type: type, subject_id: subjectId },
    attributes: attributes ?? { legal: { legal_name: `Company ${subjectId}` } },
    evidence,
    ...(attributePaths === undefined ? {} : { attribute_paths: attributePaths }),
    audit: { created_by: OWNER, created_at: at, source: 'test' },
  };
}

/** Writes versions as `OWNER`. The service must store each of them. */
export async function write(scene: Scene, tenantId: string, ...envelopes: Record<string, unknown>[]): Promise<void> {
  for (const one of envelopes) {
    const { status, body } = await scene.api(OWNER, 'POST', `/v1/tenants/${tenantId}/entity-states`, one);
    if (status !== 201) throw new Error(`Not written: ${status} ${JSON.stringify(body)}`);
  }
}
