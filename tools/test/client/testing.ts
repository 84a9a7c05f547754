import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSecrets, type Run } from '../../dev/data-folder.ts';
import { mintToken } from '../../dev/identity-provider.ts';
import type { StartedService } from '../../testing/started-service.ts';

/** Signs the token that `npm run -s token -- NAME` prints, without a process. */
export async function tokenOf({ dataFolder }: StartedService, user: string): Promise<string> {
  const { status, audience }: Run = JSON.parse(readFileSync(join(dataFolder, 'run.json'), 'utf8'));
  if (status === undefined) throw new Error('The service has not started');
  const { signing_key: signingKey } = await openSecrets(dataFolder);
  return mintToken({ issuer: status.issuer, audience, signingKey, user });
}

/** Returns the envelope of the first version of an organization. */
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

/** Returns a fetch that replaces each response body with the result of `lie`. Undefined keeps the body. */
export function lyingFetch(lie: (text: string, url: string) => string | undefined): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const text = await response.text();
    const { status, headers } = response;
    return new Response(lie(text, String(input)) ?? text, { status, headers });
  };
}
