import { createHmac, hash } from 'node:crypto';
import { canonicalize } from '../json/canonicalize';
import type { JsonObject } from '../json/value';

/** The input of an applied update's snapshot id. The base is included so that A→B→A→B gives distinct ids. */
export interface SnapshotIdInput extends JsonObject {
  subject_type: string;
  subject_id: string;
  base_snapshot_id: string;
  patch_ops: JsonObject[];
}

/**
 * Derives the id of the snapshot that a patch creates: the UUIDv5 of the input's RFC 8785 text (contract, "Apply's
 * `snapshot_id`"). The namespace is derived from a secret of the deployment, so that no outsider can compute a
 * subject's next id and use it first.
 */
export function deriveSnapshotId(namespaceSecret: string | Uint8Array, input: SnapshotIdInput): string {
  return uuidV5(namespaceOf(namespaceSecret), canonicalize(input));
}

/** The namespace that was computed last. A deployment has only one secret. */
let known: { secret: string | Uint8Array; namespace: Uint8Array } | undefined;

function namespaceOf(secret: string | Uint8Array): Uint8Array {
  if (typeof secret === 'string' && known?.secret === secret) return known.namespace;
  const namespace = createHmac('sha256', secret).update('snapshot_id').digest().subarray(0, 16);
  known = { secret, namespace };
  return namespace;
}

/** Returns the UUIDv5 (RFC 9562 section 5.5) of a name's UTF-8 bytes, in lower case. The namespace has 16 bytes. */
export function uuidV5(namespace: Uint8Array, name: string): string {
  const bytes = hash('sha1', Buffer.concat([namespace, Buffer.from(name)]), 'buffer').subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
