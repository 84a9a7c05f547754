import { canonicalize, type JsonObject } from '@iss/domain/pure';
import { sha256, toHex } from '@iss/tlog';

/** The hash of version 1 in openapi.json. */
export const FIRST_HASH = '7f7a5c035d5a56b5d92ddadec43024c52df4b84732b65ede244cac8976519219';
const SUBJECT = { subject_type: 'organization', subject_id: 'acme-corp' };

/** Makes a version of the subject of openapi.json, with the hash of its content. */
export function snapshotOf(version: number, content: JsonObject = {}, prevHash: string | null = null) {
  const at = `2026-01-${14 + version}T09:30:00Z`;
  const header = {
    snapshot_id: `00000000-0000-4000-8000-${String(version).padStart(12, '0')}`,
    snapshot_version: version,
    generated_at: at,
  };
  const envelope: JsonObject = {
    envelope_version: 'entity_state_envelope_v1',
    ...header,
    subject: SUBJECT,
    attributes: { legal: { legal_name: `Acme ${version} AG` } },
    evidence: [],
    audit: { created_by: 'oidc:dev#alice', created_at: at, source: 'test' },
    ...content,
  };
  return {
    ...header,
    change_kind: content['change_kind'] === 'correction' ? ('correction' as const) : ('change' as const),
    created_at: at.replace('Z', '.412Z'),
    envelope_hash: toHex(sha256(new TextEncoder().encode(canonicalize(envelope)))),
    prev_hash: prevHash ?? (version === 1 ? null : '0'.repeat(64)),
    written_by: 'oidc:dev#alice',
    write_request_id: 'request-1',
    subject: SUBJECT,
    envelope,
  };
}

/** Makes the same version without its content, as lists contain it. */
export function headerOf({ envelope: _, ...header }: ReturnType<typeof snapshotOf>) {
  return header;
}
