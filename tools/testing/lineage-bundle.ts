import { randomUUID } from 'node:crypto';
import { canonicalize, logEntryText, seal } from '@iss/domain';
import { KEYED_ENTRY_VERSION, leafTextOf } from '@iss/proof';
import { signedLog } from './signed-log.ts';

const SUBJECT = { subject_type: 'organization', subject_id: 'acme-corp' };

/** A line of a bundle, for `iss verify`. */
export interface BundleLine {
  snapshot: Record<string, unknown> & { envelope: Record<string, unknown> };
  entry: string;
  /** Keys in the map; null for entries of the earlier format. */
  keys: string[] | null;
  log_index: number;
  inclusion: string[];
}

/** Makes a lineage in a log with entries of other tenants in between, and its bundle. With `isKeyed`, its entries have keys in the map. */
export async function lineageBundle(versions: number, isKeyed = false) {
  const snapshots: BundleLine['snapshot'][] = [];
  const entries: string[] = [];
  const leaves: string[] = [];
  const indexes: number[] = [];
  const keys: BundleLine['keys'][] = [];
  let prevHash: string | null = null;
  const [writtenBy, writeRequestId] = ['oidc:p#alice', 'request-1'];
  for (let version = 1; version <= versions; version++) {
    const snapshotId = randomUUID();
    const generatedAt = '2026-01-15T09:30:00Z';
    const envelope = {
      envelope_version: 'entity_state_envelope_v1',
      snapshot_id: snapshotId,
      snapshot_version: version,
      generated_at: generatedAt,
      subject: SUBJECT,
      attributes: { legal: { legal_name: 'Acme Corp' }, size: { employees: version }, padding: 'x'.repeat(400) },
      evidence: [{ evidence_id: 'ev-1', evidence_type: 'registry_extract', source: 'register' }],
      audit: { created_at: generatedAt, created_by: 'importer', source: 'test' },
    };
    const sealed = seal(envelope);
    const createdAt = new Date(Date.UTC(2026, 0, 15, 9, 30) + version);
    snapshots.push({
      snapshot_id: snapshotId,
      snapshot_version: version,
      generated_at: generatedAt,
      created_at: createdAt.toISOString(),
      envelope_hash: sealed.hash,
      prev_hash: prevHash,
      written_by: writtenBy,
      write_request_id: writeRequestId,
      subject: SUBJECT,
      envelope: JSON.parse(sealed.text),
    });
    const fact = {
      type: 'snapshot.created',
      tenantId: 'acme',
      subjectType: SUBJECT.subject_type,
      subjectId: SUBJECT.subject_id,
      snapshotId,
      snapshotVersion: version,
      envelopeHash: sealed.hash,
      prevHash,
      createdAt,
      writtenBy,
      writeRequestId,
      // As in a log that an earlier release started.
      namesWriter: version > 1,
      viewHash: null,
    } as const;
    const entry = logEntryText(fact, Buffer.alloc(16, version));
    const logged = isKeyed ? keyedEntry(entry, version) : { entry, keys: null };
    entries.push(`another's entry ${version}`);
    indexes.push(entries.push(logged.entry) - 1);
    leaves.push(`another's entry ${version}`, leafTextOf(logged));
    keys.push(logged.keys);
    prevHash = sealed.hash;
  }
  const log = await signedLog(leaves);
  const note = await log.checkpoint();
  const head: Record<string, unknown> = {
    bundle: 'iss_bundle_v1',
    subject: SUBJECT,
    log_origin: 'log.example/test',
    vkeys: [log.vkey],
    checkpoint: note,
    versions,
    head_version: versions,
  };
  const lines: BundleLine[] = [];
  for (const [place, snapshot] of snapshots.entries()) {
    const index = indexes[place] ?? 0;
    const proof = { log_index: index, inclusion: await log.inclusion(index) };
    lines.push({ snapshot, entry: entries[index] ?? '', keys: keys[place] ?? null, ...proof });
  }
  return { log, note, head, lines, entries };
}

/** Turns an entry into one with a key in the map. */
function keyedEntry(entry: string, version: number): { entry: string; keys: string[] } {
  const members: Record<string, string> = JSON.parse(entry);
  const key = Buffer.alloc(32, version).toString('base64url');
  return { entry: canonicalize({ ...members, entry_version: KEYED_ENTRY_VERSION }), keys: [key] };
}

export function bundleText(head: object, lines: readonly object[]): string {
  return [head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('');
}
