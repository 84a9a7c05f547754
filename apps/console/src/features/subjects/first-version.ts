import type { api, SubjectType } from '@identity-state/client';
import { type ApiCall, apiCall } from '../../app/api.ts';

interface First {
  readonly type: SubjectType;
  readonly subjectId: string;
  readonly name: string;
  readonly by: string;
}

/** Returns the call that writes a minimal first version. The name is stored where the search finds it. */
export function firstVersionCall(tenantId: string, { type, subjectId, name, by }: First): ApiCall<api.Snapshot> {
  const at = new Date().toISOString();
  return apiCall('POST', '/v1/tenants/{tenant_id}/entity-states', {
    path: { tenant_id: tenantId },
    body: {
      envelope_version: 'entity_state_envelope_v1',
      snapshot_id: crypto.randomUUID(),
      snapshot_version: 1,
      generated_at: at,
      subject: { subject_type: type, subject_id: subjectId },
      attributes:
        type === 'individual' ? { biographic: { name: { formatted_name: name } } } : { legal: { legal_name: name } },
      evidence: [],
      audit: { created_by: by === '' ? 'console' : by, created_at: at, source: 'console' },
    },
  });
}
