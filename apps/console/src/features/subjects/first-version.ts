import type { SubjectType } from '@identity-state/client';

interface First {
  readonly type: SubjectType;
  readonly subjectId: string;
  readonly name: string;
  readonly by: string;
}

/** Returns a minimal first version. Its name is where search finds it. */
export function firstVersion({ type, subjectId, name, by }: First, now: Date): object {
  const at = now.toISOString();
  return {
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: crypto.randomUUID(),
    snapshot_version: 1,
    generated_at: at,
    subject: { subject_type: type, subject_id: subjectId },
    attributes:
      type === 'individual' ? { biographic: { name: { formatted_name: name } } } : { legal: { legal_name: name } },
    evidence: [],
    audit: { created_by: by === '' ? 'console' : by, created_at: at, source: 'console' },
  };
}
