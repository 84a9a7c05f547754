import { createHmac, hash } from 'node:crypto';
import { canonicalize } from '../json/canonicalize';
import type { JsonObject } from '../json/value';

/** What an applied update's snapshot id is made of. The base makes A→B→A→B give distinct ids. */
export interface SnapshotIdInput extends JsonObject {
  subject_type: string;
  subject_id: string;
  base_snapshot_id: string;
  patch_ops: JsonObject[];
}

/**
 * The snapshot id that applying a patch gives, contract "Apply's `snapshot_id`": UUIDv5 of the input's RFC 8785 text.
 * The namespace comes from the deployment's secret, so that nobody outside can compute, and take, a subject's next id.
 */
export function deriveSnapshotId(namespaceSecret: string | Uint8Array, input: SnapshotIdInput): string {
  return uuidV5(namespaceOf(namespaceSecret), canonicalize(input));
}

/** The last one made: a deployment has one secret. */
let known: { secret: string | Uint8Array; namespace: Uint8Array } | undefined;

function namespaceOf(secret: string | Uint8Array): Uint8Array {
  if (typeof secret === 'string' && known?.secret === secret) return known.namespace;
  const namespace = createHmac('sha256', secret).update('snapshot_id').digest().subarray(0, 16);
  known = { secret, namespace };
  return namespace;
}

/** The UUIDv5 (RFC 9562 section 5.5) of a name's UTF-8 bytes in a namespace of 16 bytes, in lower case. */
export function uuidV5(namespace: Uint8Array, name: string): string {
  const bytes = hash('sha1', Buffer.concat([namespace, Buffer.from(name)]), 'buffer').subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
