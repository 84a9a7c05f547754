import { randomUUID } from 'node:crypto';
import type { Scene } from './scene.ts';

/** Creates a tenant and a subject for a suite, with a history in which values change, appear, disappear and move. */
export async function subjectWith(scene: Scene, user: string, versions: number) {
  const mark = randomUUID().slice(0, 8);
  const tenantId = `t-${mark}`;
  const subjectId = `company/${mark} <b>`;
  const subject = { subject_type: 'organization', subject_id: subjectId };
  await must(scene.api(user, 'POST', '/v1/tenants', { tenant_id: tenantId, name: `Tenant ${mark}` }));
  for (let version = 1; version <= versions; version++) {
    const generatedAt = new Date(Date.UTC(2026, 0, version)).toISOString();
    const oldest = { name: 'Ann <img src=x onerror=alert(1)>', role: 'director' };
    const other = { name: 'Bert', role: 'director' };
    const third = { name: 'Cleo', role: 'secretary' };
    await must(
      scene.api(user, 'POST', `/v1/tenants/${tenantId}/entity-states`, {
        envelope_version: 'entity_state_envelope_v1',
        snapshot_id: randomUUID(),
        snapshot_version: version,
        generated_at: generatedAt,
        subject,
        attributes: {
          legal: { legal_name: `Company ${version} Ltd`, lei: '5493001KJTIIGC8Y1R12' },
          people: version % 2 === 1 ? [oldest, other, third] : [other, third, oldest],
          [version % 2 === 1 ? 'office' : 'seat']: { street: 'Main Street 1', town: 'Zug', country: 'CH' },
          ...(version === 2 ? { added: '<script>alert(1)</script>' } : {}),
        },
        evidence: [
          { evidence_id: 'ev-1', evidence_type: 'registry_extract', source: 'register', captured_at: generatedAt },
        ],
        attribute_paths: {
          '/attributes/legal/legal_name': [{ evidence_id: 'ev-1', evidence_type: 'registry_extract' }],
        },
        audit: { created_at: generatedAt, created_by: 'importer', source: 'test' },
      }),
    );
  }
  return {
    tenantId,
    subjectId,
    path: `/v1/tenants/${tenantId}/subjects/organization/${encodeURIComponent(subjectId)}`,
    view: `/t/${tenantId}/subjects/organization/${encodeURIComponent(subjectId)}`,
  };
}

async function must(answer: Promise<{ status: number; body: unknown }>): Promise<void> {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`);
}
