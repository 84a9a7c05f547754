import { hash } from 'node:crypto';
import { TILE_WIDTH, TileHashes } from '@iss/tlog';
import { type AuditReader, isText, type Row } from '../database';
import { apiTime, keyEntry, restartEntry, snapshotEntry, viewEntry } from './entry-text';
import { FACTS, nameOfFact } from './other-facts';
import { ARCHIVED, checkHash, checkText } from '../facts/envelopes';
import { type Checked, notice, nothingChecked, report } from '../findings';
import { KEYS, OTHERS, RESTARTS, SNAPSHOTS, TILES, VIEWS } from './entry-statements';
import { checkPlaces, type KeysByEntry, leafText, MAP_ENTRIES, outerText, readKeys, readMapEntry } from './keyed';
import { checkName } from '../facts/names';
import { checkPatch } from '../facts/patches';
import { checkView } from '../facts/views';
import { BATCHES, readBatch, RECORD_NAMES } from './records';
import { checkTime, CLOCK_SKEW_MS, type SignedSizes } from './times';

/** Entries per statement. Their tiles take half a megabyte. */
const CHUNK = 64 * TILE_WIDTH;
const HASH_SIZE = 32;

type Column = Row[number] | undefined;

export interface EntriesTask {
  readonly kind: 'entries';
  /** A multiple of 256. */
  readonly from: number;
  readonly to: number;
  readonly treeSize: number;
  readonly signed: SignedSizes;
}

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
  private keys: KeysByEntry = new Map();

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
    this.keys = await readKeys(this.reader, this.from, this.to);
    await this.reader.each(SNAPSHOTS, [this.from, this.to], (row) => this.checkSnapshot(row));
    await this.reader.each(OTHERS, [this.from, this.to], (row) => this.checkOther(row));
    await this.reader.each(RESTARTS, [this.from, this.to], (row) => this.checkRestart(row));
    await this.reader.each(KEYS, [this.from, this.to], (row) => this.checkKey(row));
    await this.reader.each(VIEWS, [this.from, this.to], (row) => this.checkViewEntry(row));
    await this.reader.each(BATCHES, [this.from, this.to], (row) => this.checkBatch(row));
    await this.reader.each(MAP_ENTRIES, [this.from, this.to], (row) => this.checkMapEntry(row));
    for (const [at, keys] of this.keys) if (!keys.isBackfill) checkPlaces(this.checked, `entry ${at}`, keys, () => at);
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
      bodyHash,
      namesView,
      viewHash,
      viewSecret,
      name,
      changeKind,
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
        viewHash: namesView === 't' ? (viewHash ?? null) : null,
      });
      this.checkLeaf(index, where, text);
    } else if (isText(bodyHash) && !this.isLeaf(index, outerText(bodyHash, this.keys.get(index)?.texts ?? []))) {
      report(this.checked, 'leaf', where, `its body_hash is ${bodyHash}, which is not that of the erased text`);
    }
    this.checkTime(index, where, createdAt, isLate === 't');
    let value: unknown;
    if (envelope === ARCHIVED) this.checked.archived++;
    else if (isText(envelope)) {
      const text = { ...fact, generatedAt, changeKind, envelopeHash, envelope };
      checkHash(this.checked, where, text);
      value = checkText(this.checked, where, text);
    }
    checkPatch(this.checked, where, row, value);
    const viewed = isText(envelope) ? value : null;
    checkView(this.checked, where, { envelope: viewed, envelopeHash, prevHash, viewHash, viewSecret });
    if (value !== undefined || !isText(envelope)) checkName(this.checked, where, name, value);
    // An erased version has no text and no salt, and a log entry names its index.
    if ((!isText(envelope) || !isText(salt)) && !isText(erasure)) {
      report(this.checked, 'erased', where, `${isText(envelope) ? 'the salt' : 'the envelope'} is missing`);
    }
    if (erasure === 'waiting') notice(this.checked, where, 'it was erased, and the erasure waits to be logged');
    if (owner !== tenantId) {
      report(this.checked, 'subject', where, `the subject belongs to the tenant ${owner}, the snapshot to ${tenantId}`);
    }
    if (version !== '1') {
      this.checkPrevious(index, where, { prevHash, createdAt }, { parentHash, parentCreated, parentEntry });
    } else if (isText(prevHash)) report(this.checked, 'chain', where, 'version 1 has a prev_hash');
  }

  /** Compares a version with the previous one. */
  private checkPrevious(
    index: number,
    where: string,
    { prevHash, createdAt }: { prevHash: Column; createdAt: string },
    { parentHash, parentCreated, parentEntry }: { parentHash: Column; parentCreated: Column; parentEntry: Column },
  ): void {
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
      const times = `created_at ${createdAt} is before the previous version, ${parentCreatedAt}: back-dated`;
      report(this.checked, 'time', where, times);
    }
  }

  private checkOther(row: Row): void {
    const [at, type] = row;
    const index = this.see(at);
    const name = nameOfFact(row);
    const where = `entry ${index}, ${type === '3' ? 'revocation of ' : ''}${name}`;
    const read = FACTS[type ?? ''];
    if (read === undefined) {
      report(this.checked, 'entry_type', where, `entry_type is ${type}`);
      return;
    }
    const fact = read(row);
    if (fact === null) {
      report(this.checked, 'fact_missing', where, 'its table has no such row');
      return;
    }
    this.checkTime(index, where, fact.at);
    if (fact.fault !== undefined) report(this.checked, 'not_erased', where, fact.fault);
    this.checkLeaf(index, where, fact.text);
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

  private checkViewEntry([
    at,
    key,
    version,
    salt,
    id,
    tenantId,
    subjectType,
    subjectId,
    viewHash,
    committed,
  ]: Row): void {
    const index = this.see(at);
    const where = `entry ${index}, view of version ${version} of ${subjectType} ${subjectId} (subject_key ${key})`;
    if (!isText(id) || !isText(tenantId) || !isText(subjectType) || !isText(subjectId) || !isText(version)) {
      report(this.checked, 'fact_missing', where, 'snapshots or subjects has no such row');
      return;
    }
    if (!isText(viewHash) || !isText(committed)) {
      report(this.checked, 'fact_missing', where, 'snapshot_views has no such row');
      return;
    }
    const committedAt = apiTime(committed);
    this.checkTime(index, where, committedAt);
    const fact = { tenantId, subjectType, subjectId, snapshotId: id, version };
    this.checkLeaf(index, where, viewEntry(salt ?? '', { ...fact, viewHash, committedAt }));
  }

  private checkBatch(row: Row): void {
    const [at, id, , type] = row;
    const index = this.see(at);
    const where = `entry ${index}, batch ${id} of ${RECORD_NAMES[type ?? '']}s`;
    const batch = readBatch(row);
    if (batch === null) {
      report(this.checked, 'fact_missing', where, 'record_batches has no such row');
      return;
    }
    const [first] = batch.times;
    if (first !== undefined) this.checkTime(index, where, first, batch.isLate);
    if (this.isEntry(index, batch.text)) return;
    const faults = batch.faults();
    for (const fault of faults) report(this.checked, 'record', `${where}, ${fault.where}`, fault.what);
    if (faults.length === 0) this.checkLeaf(index, where, batch.text);
  }

  private checkMapEntry(row: Row): void {
    const index = this.see(row[0]);
    const keys = this.keys.get(index);
    const { name, text, indexOf } = readMapEntry(row, keys?.texts ?? []);
    const where = `entry ${index}, ${name} of the map`;
    if (!this.isLeaf(index, text)) report(this.checked, 'leaf', where, `the tables say ${text.slice(0, 1_000)}`);
    if (keys !== undefined) checkPlaces(this.checked, where, keys, indexOf);
  }

  private see(at: string | null | undefined): number {
    const index = Number(at);
    this.isSeen[index - this.from] = 1;
    this.checked.entries++;
    return index;
  }

  private checkTime(index: number, where: string, at: string, isLate = false): void {
    checkTime(this.checked, this.task.signed, { index, where, at, isLate });
  }

  /** RFC 6962, section 2.1: SHA-256 of a zero byte and the text. */
  private isLeaf(index: number, text: string): boolean {
    const tile = this.tiles.get(`0/${Math.floor(index / TILE_WIDTH)}`);
    const place = (index % TILE_WIDTH) * HASH_SIZE;
    const leaf = hash('sha256', `\0${text}`, 'buffer');
    return tile?.subarray(place, place + HASH_SIZE).equals(leaf) === true;
  }

  private isEntry(index: number, text: string): boolean {
    return this.isLeaf(index, leafText(text, this.keys.get(index)));
  }

  private checkLeaf(index: number, where: string, text: string): void {
    if (this.isEntry(index, text)) return;
    // Omits the salt, which keeps the content of the hashes secret.
    report(this.checked, 'leaf', where, `the tables say ${text.replace(/"salt":"[^"]*",/, '').slice(0, 1_000)}`);
  }
}
