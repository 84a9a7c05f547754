import { hash } from 'node:crypto';
import { TILE_WIDTH, TileHashes } from '@iss/tlog';
import { type AuditReader, isText, type Row } from './database';
import {
  apiTime,
  erasureEntry,
  grantChangeEntry,
  grantEntry,
  keyEntry,
  ownerEntry,
  restartEntry,
  revocationEntry,
  snapshotEntry,
} from './entry-text';
import { checkHash, checkText } from './envelopes';
import { type Checked, notice, nothingChecked, report } from './findings';
import { checkName, NAME_COLUMN } from './names';
import { checkPatch, UPDATE_COLUMNS, UPDATE_OF_VERSION } from './patches';

/** Entries per statement. Their tiles take half a megabyte. */
const CHUNK = 64 * TILE_WIDTH;
const HASH_SIZE = 32;
/** For clock differences and waiting transactions. */
const CLOCK_SKEW_MS = 60_000;
/** A fact that was logged this much later than its own time is a notice, unless a checkpoint proves that it is back-dated. */
const LATE_MS = 3_600_000;
/** Longer than any transaction of the applications and any clock difference. */
const COMMIT_MS = 300_000;

/** Signed tree sizes with their times, ascending. They bound the time of an entry. */
export interface SignedSizes {
  readonly sizes: Float64Array;
  readonly atMs: Float64Array;
  /** All facts committed before this time are in the tree of that size. -Infinity if no time was recorded. */
  readonly completeMs: Float64Array;
}

export interface EntriesTask {
  readonly kind: 'entries';
  /** A multiple of 256. */
  readonly from: number;
  readonly to: number;
  readonly treeSize: number;
  readonly signed: SignedSizes;
}

const SNAPSHOTS = `
SELECT e.log_index, e.subject_key, e.snapshot_version, translate(encode(e.salt, 'base64'), '+/=', '-_'),
       n.snapshot_id, n.tenant_id, n.generated_at, n.created_at, encode(n.envelope_hash, 'hex'), encode(n.prev_hash, 'hex'),
       n.envelope, s.subject_type, s.subject_id, s.owner_tenant_id,
       encode(p.envelope_hash, 'hex'), p.created_at, pe.log_index,
       CASE WHEN n.erasure_id IS NOT NULL THEN (
         SELECT CASE WHEN EXISTS (SELECT FROM log_entries le WHERE le.erasure_id = er.erasure_id AND le.entry_type = 6) THEN 'logged'
                     WHEN EXISTS (SELECT FROM log_waiting w WHERE w.erasure_id = er.erasure_id AND w.entry_type = 6) THEN 'waiting' END
           FROM erasures er
          WHERE er.erasure_id = n.erasure_id AND er.subject_key = e.subject_key AND e.log_index = ANY (er.erased_indexes)) END,
       CASE WHEN e.names_writer THEN n.written_by END, n.write_request_id, e.is_late,
       ${NAME_COLUMN},
       ${UPDATE_COLUMNS}
  FROM (SELECT * FROM log_entries WHERE log_index >= $1 AND log_index < $2 AND entry_type = 1
         ORDER BY log_index OFFSET 0) e
  LEFT JOIN LATERAL (SELECT * FROM snapshots n
                      WHERE n.subject_key = e.subject_key AND n.snapshot_version = e.snapshot_version LIMIT 1) n ON true
  LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = e.subject_key LIMIT 1) s ON true
  LEFT JOIN LATERAL (SELECT p.envelope_hash, p.created_at, p.snapshot_id, p.envelope FROM snapshots p
                      WHERE p.subject_key = e.subject_key AND p.snapshot_version = e.snapshot_version - 1 LIMIT 1) p ON true
  LEFT JOIN LATERAL (SELECT pe.log_index FROM log_entries pe
                      WHERE pe.entry_type = 1 AND pe.subject_key = e.subject_key
                        AND pe.snapshot_version = e.snapshot_version - 1 LIMIT 1) pe ON true
  ${UPDATE_OF_VERSION}`;

const OTHERS = `
SELECT e.log_index, e.entry_type, translate(encode(e.salt, 'base64'), '+/=', '-_'), e.grant_id, e.owner_change_id,
       g.grantor_tenant_id, g.grantee_tenant_id,
       CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_type END, CASE WHEN g.subject_key = 0 THEN '*' ELSE s.subject_id END,
       array_to_json(CASE WHEN first.grant_id IS NULL THEN g.scopes ELSE first.from_scopes END),
       CASE WHEN first.grant_id IS NULL THEN g.expires_at ELSE first.from_expires_at END,
       g.created_at, g.revoked_at, c.tenant_id, c.principal_id, c.from_principal_id, c.changed_at,
       e.grant_change_id, h.grant_id, array_to_json(h.scopes), h.expires_at, h.changed_at,
       e.erasure_id, er.tenant_id, array_to_json(er.erased_indexes), er.erased_at,
       (SELECT count(*) FROM unnest(er.erased_indexes) AS gone(log_index)
          JOIN LATERAL (SELECT * FROM log_entries le WHERE le.log_index = gone.log_index LIMIT 1) le ON true
          JOIN LATERAL (SELECT envelope FROM snapshots n
                         WHERE n.subject_key = le.subject_key AND n.snapshot_version = le.snapshot_version LIMIT 1) n ON true
         WHERE n.envelope IS NOT NULL),
       CASE WHEN e.names_versions THEN (
         SELECT json_agg(json_build_array(n.snapshot_id, n.snapshot_version::text, encode(n.envelope_hash, 'hex'),
                                          encode(n.prev_hash, 'hex'), n.created_at::text) ORDER BY gone.log_index)
           FROM unnest(er.erased_indexes) AS gone(log_index)
           JOIN LATERAL (SELECT * FROM log_entries le WHERE le.log_index = gone.log_index LIMIT 1) le ON true
           JOIN LATERAL (SELECT * FROM snapshots n
                          WHERE n.subject_key = le.subject_key AND n.snapshot_version = le.snapshot_version LIMIT 1) n ON true) END
  FROM (SELECT * FROM log_entries WHERE log_index >= $1 AND log_index < $2 AND entry_type NOT IN (1, 7, 8)
         ORDER BY log_index OFFSET 0) e
  LEFT JOIN LATERAL (SELECT * FROM grant_changes h WHERE h.grant_change_id = e.grant_change_id LIMIT 1) h ON true
  LEFT JOIN LATERAL (SELECT * FROM grants g WHERE g.grant_id = coalesce(h.grant_id, e.grant_id) LIMIT 1) g ON true
  LEFT JOIN LATERAL (SELECT * FROM grant_changes f WHERE f.grant_id = g.grant_id
                      ORDER BY (-f.grant_change_id) DESC LIMIT 1) first ON true
  LEFT JOIN LATERAL (SELECT * FROM erasures er WHERE er.erasure_id = e.erasure_id LIMIT 1) er ON true
  LEFT JOIN LATERAL (SELECT * FROM subjects s WHERE s.subject_key = coalesce(g.subject_key, er.subject_key) LIMIT 1) s ON true
  LEFT JOIN LATERAL (SELECT * FROM owner_changes c WHERE c.owner_change_id = e.owner_change_id LIMIT 1) c ON true`;

const RESTARTS = `
SELECT e.log_index, e.restart_id, translate(encode(e.salt, 'base64'), '+/=', '-_'), r.previous_origin, r.previous_size,
       encode(r.previous_root, 'base64'), encode(sha256(convert_to(r.previous_checkpoint, 'UTF8')), 'hex'), r.reason, r.restarted_at
  FROM (SELECT * FROM log_entries WHERE log_index >= $1 AND log_index < $2 AND entry_type = 7
         ORDER BY log_index OFFSET 0) e
  LEFT JOIN LATERAL (SELECT * FROM log_restarts r WHERE r.restart_id = e.restart_id LIMIT 1) r ON true`;

const KEYS = `
SELECT e.log_index, e.announcement_id, translate(encode(e.salt, 'base64'), '+/=', '-_'), a.vkey, a.announced_by, a.announced_at
  FROM (SELECT * FROM log_entries WHERE log_index >= $1 AND log_index < $2 AND entry_type = 8
         ORDER BY log_index OFFSET 0) e
  LEFT JOIN LATERAL (SELECT * FROM log_key_announcements a WHERE a.announcement_id = e.announcement_id LIMIT 1) a ON true`;

const TILES = `
SELECT level, tile_index, encode(hashes, 'base64') FROM log_tiles
 WHERE (level = 0 AND tile_index >= $1 AND tile_index < $2) OR (level = 1 AND tile_index >= $3 AND tile_index < $4)`;

/** Recomputes a range of the log: each leaf, each snapshot and the hash of each full tile. */
export async function checkEntries(reader: AuditReader, task: EntriesTask): Promise<Checked> {
  const checked = nothingChecked();
  for (let from = task.from; from < task.to; from += CHUNK) {
    await new Chunk(reader, task, from, Math.min(from + CHUNK, task.to), checked).check();
  }
  return checked;
}

class Chunk {
  /** Tiles by level and index. */
  private readonly tiles = new Map<string, Buffer>();
  private readonly isSeen: Uint8Array;

  constructor(
    private readonly reader: AuditReader,
    private readonly task: EntriesTask,
    private readonly from: number,
    private readonly to: number,
    private readonly checked: Checked,
  ) {
    this.isSeen = new Uint8Array(to - from);
  }

  async check(): Promise<void> {
    const [first, last] = [this.from / TILE_WIDTH, Math.ceil(this.to / TILE_WIDTH)];
    const parents = [Math.floor(first / TILE_WIDTH), Math.ceil(last / TILE_WIDTH)];
    for (const [level, index, hashes] of await this.reader.rows(TILES, [first, last, ...parents])) {
      this.tiles.set(`${level}/${index}`, Buffer.from(hashes ?? '', 'base64'));
    }
    for (let index = first; index < last; index++) this.checkTile(index);
    await this.reader.each(SNAPSHOTS, [this.from, this.to], (row) => this.checkSnapshot(row));
    await this.reader.each(OTHERS, [this.from, this.to], (row) => this.checkOther(row));
    await this.reader.each(RESTARTS, [this.from, this.to], (row) => this.checkRestart(row));
    await this.reader.each(KEYS, [this.from, this.to], (row) => this.checkKey(row));
    const missing = this.isSeen.indexOf(0);
    for (let at = missing; at >= 0; at = this.isSeen.indexOf(0, at + 1)) {
      report(this.checked, 'entry_missing', `entry ${this.from + at}`, 'log_entries has no row with this index');
    }
  }

  /** Checks the width of a tile and, if it is full, its hash in the level above. */
  private checkTile(index: number): void {
    const where = `tile 0/${index}`;
    const bytes = this.tiles.get(`0/${index}`);
    const width = Math.min(TILE_WIDTH, this.task.treeSize - index * TILE_WIDTH);
    if (bytes?.length !== width * HASH_SIZE) {
      report(this.checked, 'tile', where, `it has ${(bytes?.length ?? 0) / HASH_SIZE} hashes instead of ${width}`);
      return;
    }
    if (width < TILE_WIDTH) return;
    const parent = this.tiles.get(`1/${Math.floor(index / TILE_WIDTH)}`);
    const place = (index % TILE_WIDTH) * HASH_SIZE;
    const above = parent?.subarray(place, place + HASH_SIZE);
    if (above?.equals(new TileHashes(bytes).node(8, 0)) !== true) {
      report(
        this.checked,
        'tree',
        where,
        `hash ${index % TILE_WIDTH} of tile 1/${Math.floor(index / TILE_WIDTH)} does not match it`,
      );
    }
  }

  private checkSnapshot(row: Row): void {
    const [at, key, version, salt, id, tenantId, generatedAt, created, envelopeHash, prevHash, envelope, ...rest] = row;
    const [
      subjectType,
      subjectId,
      owner,
      parentHash,
      parentCreated,
      parentEntry,
      erasure,
      writer,
      requestId,
      isLate,
      name,
    ] = rest;
    const index = this.see(at);
    const where = `entry ${index}, snapshot ${id ?? 'gone'}: version ${version} of ${subjectType} ${subjectId} (subject_key ${key})`;
    this.checked.snapshots++;
    if (!isText(id) || !isText(tenantId) || !isText(created) || !isText(version)) {
      report(this.checked, 'fact_missing', where, 'snapshots has no such row');
      return;
    }
    if (!isText(subjectType) || !isText(subjectId)) {
      report(this.checked, 'fact_missing', where, 'subjects has no such row');
      return;
    }
    const createdAt = apiTime(created);
    const fact = { tenantId, subjectType, subjectId, snapshotId: id, version };
    if (isText(salt)) {
      const text = snapshotEntry(salt, {
        ...fact,
        envelopeHash: envelopeHash ?? null,
        prevHash: prevHash ?? null,
        createdAt,
        writer: isText(writer) ? { principalId: writer, requestId: requestId ?? null } : null,
      });
      this.checkLeaf(index, where, text);
    }
    this.checkTime(index, where, createdAt, isLate === 't');
    let value: unknown;
    if (isText(envelope)) {
      const text = { ...fact, generatedAt: generatedAt ?? '', envelopeHash: envelopeHash ?? null, envelope };
      checkHash(this.checked, where, text);
      value = checkText(this.checked, where, text);
    }
    checkPatch(this.checked, where, row, value);
    if (value !== undefined || !isText(envelope)) checkName(this.checked, where, name, value);
    // An erased version has no text and no salt, and a log entry names its index.
    if ((!isText(envelope) || !isText(salt)) && !isText(erasure)) {
      report(this.checked, 'erased', where, `${isText(envelope) ? 'the salt' : 'the envelope'} is missing`);
    }
    if (erasure === 'waiting') notice(this.checked, where, 'it was erased, and the erasure waits to be logged');
    if (owner !== tenantId) {
      report(this.checked, 'subject', where, `the subject belongs to the tenant ${owner}, the snapshot to ${tenantId}`);
    }
    if (version === '1') {
      if (isText(prevHash)) report(this.checked, 'chain', where, 'version 1 has a prev_hash');
      return;
    }
    if (!isText(parentCreated)) {
      report(this.checked, 'version_gap', where, 'snapshots has no row of the previous version');
      return;
    }
    if (prevHash !== parentHash) {
      report(this.checked, 'chain', where, `prev_hash is ${prevHash}, but the previous version has ${parentHash}`);
    }
    // prev_hash still links them. Imported versions are logged in the order in which their hashes were filled in.
    if (!isText(parentEntry) || Number(parentEntry) >= index) {
      const before = isText(parentEntry) ? `entry ${parentEntry}` : 'not logged';
      notice(this.checked, where, `the previous version is ${before}: logged out of order, as imports can be`);
    }
    const parentCreatedAt = apiTime(parentCreated);
    if (createdAt < parentCreatedAt && Date.parse(createdAt) < Date.parse(parentCreatedAt) - CLOCK_SKEW_MS) {
      report(
        this.checked,
        'time',
        where,
        `created_at ${createdAt} is before the previous version, ${parentCreatedAt}: back-dated`,
      );
    }
  }

  private checkOther(row: Row): void {
    const [at, type, salt, grantId, ownerChangeId, ...fact] = row;
    const [
      grantor,
      grantee,
      subjectType,
      subjectId,
      scopes,
      expires,
      created,
      revoked,
      tenant,
      principal,
      previous,
      changed,
      grantChangeId,
      changedGrantId,
      newScopes,
      newExpiry,
      changedGrantAt,
      erasureId,
      eraser,
      erasedIndexes,
      erased,
      stillThere,
      erasedVersions,
    ] = fact;
    const index = this.see(at);
    const name = isText(grantId)
      ? `grant ${grantId} of ${grantor ?? 'nobody'}`
      : isText(grantChangeId)
        ? `change ${grantChangeId} of grant ${changedGrantId ?? 'unknown'}`
        : isText(erasureId)
          ? `erasure ${erasureId}`
          : `owner change ${ownerChangeId}`;
    const where = `entry ${index}, ${type === '3' ? 'revocation of ' : ''}${name}`;
    const gone = (): void => report(this.checked, 'fact_missing', where, 'its table has no such row');
    switch (type) {
      case '2': {
        if (!isText(grantId) || !isText(grantor) || !isText(grantee) || !isText(created)) return gone();
        const createdAt = apiTime(created);
        const text = grantEntry(salt ?? '', {
          grantId,
          tenantId: grantor,
          granteeTenantId: grantee,
          subjectType: subjectType ?? null,
          subjectId: subjectId ?? null,
          scopes: JSON.parse(scopes ?? '[]'),
          expiresAt: !isText(expires) ? null : apiTime(expires),
          createdAt,
        });
        this.checkTime(index, where, createdAt);
        return this.checkLeaf(index, where, text);
      }
      case '3': {
        if (!isText(grantId) || !isText(grantor) || !isText(revoked)) return gone();
        const revokedAt = apiTime(revoked);
        this.checkTime(index, where, revokedAt);
        return this.checkLeaf(index, where, revocationEntry(salt ?? '', { grantId, tenantId: grantor, revokedAt }));
      }
      case '4': {
        if (!isText(tenant) || !isText(changed)) return gone();
        const changedAt = apiTime(changed);
        this.checkTime(index, where, changedAt);
        const [principalId, fromPrincipalId] = [principal ?? null, previous ?? null];
        const text = ownerEntry(salt ?? '', { tenantId: tenant, principalId, fromPrincipalId, changedAt });
        return this.checkLeaf(index, where, text);
      }
      case '5': {
        if (!isText(changedGrantId) || !isText(grantor) || !isText(changedGrantAt)) return gone();
        const changedAt = apiTime(changedGrantAt);
        this.checkTime(index, where, changedAt);
        const text = grantChangeEntry(salt ?? '', {
          grantId: changedGrantId,
          tenantId: grantor,
          scopes: JSON.parse(newScopes ?? '[]'),
          expiresAt: isText(newExpiry) ? apiTime(newExpiry) : null,
          changedAt,
        });
        return this.checkLeaf(index, where, text);
      }
      case '6': {
        if (
          !isText(eraser) ||
          !isText(erased) ||
          !isText(erasedIndexes) ||
          !isText(subjectType) ||
          !isText(subjectId)
        ) {
          return gone();
        }
        const erasedAt = apiTime(erased);
        this.checkTime(index, where, erasedAt);
        if (stillThere !== '0') {
          report(
            this.checked,
            'not_erased',
            where,
            `${stillThere} erased versions of ${subjectType} ${subjectId} still have content`,
          );
        }
        const text = erasureEntry(salt ?? '', {
          tenantId: eraser,
          subjectType,
          subjectId,
          erasedIndexes,
          erasedAt,
          erasedVersions: isText(erasedVersions) ? JSON.parse(erasedVersions) : null,
        });
        return this.checkLeaf(index, where, text);
      }
      default:
        report(this.checked, 'entry_type', where, `entry_type is ${type}`);
    }
  }

  private checkRestart([at, id, salt, origin, size, root, checkpointHash, reason, restarted]: Row): void {
    const index = this.see(at);
    const where = `entry ${index}, restart ${id} of the log`;
    if (
      !isText(origin) ||
      !isText(size) ||
      !isText(root) ||
      !isText(checkpointHash) ||
      !isText(reason) ||
      !isText(restarted)
    ) {
      report(this.checked, 'fact_missing', where, 'its table has no such row');
      return;
    }
    const restartedAt = apiTime(restarted);
    this.checkTime(index, where, restartedAt);
    const fact = {
      previousOrigin: origin,
      previousSize: size,
      previousRoot: root,
      previousCheckpointHash: checkpointHash,
    };
    this.checkLeaf(index, where, restartEntry(salt ?? '', { ...fact, reason, restartedAt }));
  }

  private checkKey([at, id, salt, vkey, announcedBy, announced]: Row): void {
    const index = this.see(at);
    const where = `entry ${index}, announcement ${id} of a key`;
    if (!isText(vkey) || !isText(announcedBy) || !isText(announced)) {
      report(this.checked, 'fact_missing', where, 'its table has no such row');
      return;
    }
    const announcedAt = apiTime(announced);
    this.checkTime(index, where, announcedAt);
    this.checkLeaf(index, where, keyEntry(salt ?? '', { vkey, announcedBy, announcedAt }));
  }

  private see(at: string | null | undefined): number {
    const index = Number(at);
    this.isSeen[index - this.from] = 1;
    this.checked.entries++;
    return index;
  }

  /** RFC 6962, section 2.1: SHA-256 of a zero byte and the text. */
  private checkLeaf(index: number, where: string, text: string): void {
    const tile = this.tiles.get(`0/${Math.floor(index / TILE_WIDTH)}`);
    const place = (index % TILE_WIDTH) * HASH_SIZE;
    const leaf = hash('sha256', `\0${text}`, 'buffer');
    if (tile?.subarray(place, place + HASH_SIZE).equals(leaf) === true) return;
    // Omits the salt, which keeps the content of the hashes secret.
    report(this.checked, 'leaf', where, `the tables say ${text.replace(/"salt":"[^"]*",/, '').slice(0, 1_000)}`);
  }

  /** Checks that a fact is older than the first signed tree with it, and newer than the trees that were complete without it. */
  private checkTime(index: number, where: string, at: string, isLate = false): void {
    const atMs = Date.parse(at);
    const { sizes, atMs: signedAtMs, completeMs } = this.task.signed;
    const next = firstAbove(sizes, index);
    const signed = signedAtMs[next];
    if (signed !== undefined && atMs > signed + CLOCK_SKEW_MS) {
      report(
        this.checked,
        'time',
        where,
        `${at} is after the signing of the checkpoint of ${sizes[next]} entries that has it`,
      );
    }
    const complete = completeMs[next - 1];
    if (complete !== undefined && atMs < complete - COMMIT_MS && !isLate) {
      const when = new Date(complete).toISOString();
      report(
        this.checked,
        'time',
        where,
        `its time is ${at}, but the log was complete without it at ${when}: back-dated`,
      );
      return;
    }
    const before = signedAtMs[next - 1];
    if (before !== undefined && atMs < before - LATE_MS) {
      const when = new Date(before).toISOString();
      notice(
        this.checked,
        where,
        `its time is ${at}, but it was not in the log at ${when}: logged late, or back-dated`,
      );
    }
  }
}

/** Returns the position of the first size above the index. */
function firstAbove(sizes: Float64Array, index: number): number {
  let [from, to] = [0, sizes.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((sizes[middle] ?? 0) > index) to = middle;
    else from = middle + 1;
  }
  return from;
}
