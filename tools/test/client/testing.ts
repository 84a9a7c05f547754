import { randomUUID } from 'node:crypto';

/** A first version, as somebody would write it. */
export function firstEnvelope(subjectId: string, changes: Record<string, unknown> = {}) {
  const now = new Date().toISOString();
  return {
    envelope_version: 'entity_state_envelope_v1' as const,
    snapshot_id: randomUUID(),
    snapshot_version: 1,
    generated_at: now,
    subject: { subject_type: 'organization' as const, subject_id: subjectId },
    attributes: { legal: { legal_name: 'Zürich 🏔 AG' }, jurisdiction: { country: 'CH' } },
    evidence: [],
    audit: { created_by: 'test', created_at: now, source: 'test' },
    ...changes,
  };
}

/** A fetch that answers what `lie` makes of each text that the service answered; undefined: as it was. */
export function lyingFetch(lie: (text: string, url: string) => string | undefined): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const text = await response.text();
    const { status, headers } = response;
    return new Response(lie(text, String(input)) ?? text, { status, headers });
  };
}
