import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JsonObject, parseJsonText } from '@iss/domain/pure';
import { formatMapRootEntry, versionStream } from '@iss/map';
import { Members, readPolicy } from '@iss/proof';
import { verifyMapAnswer } from '@iss/proof/complete';
import { parseCheckpoint, parseNote } from '@iss/tlog';
import { mapOperator, type MapOperator, type Published } from '../../../tools/testing/map-operator';
import { type DoubledKey, MapAudit } from '../src/map-audit/map-audit';
import { MapFile } from '../src/map-audit/map-file';
import { PublicLog } from '../src/map-audit/public-log';
import { type LogServer, serveLog } from './testing/log-server';
import { publishOn, servePublished, type Served } from './testing/map-log';

const ORIGIN = 'log.example/test';
const SUBJECT = { subject_type: 'organization', subject_id: 'acme-corp' };
const STREAM = versionStream(SUBJECT.subject_type, SUBJECT.subject_id);

let folder: string;
let server: LogServer;
let operator: MapOperator;
let file: MapFile;
let doubled: DoubledKey[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'iss-map-'));
  server = await serveLog();
  operator = await mapOperator();
  file = MapFile.open(join(folder, 'map'), ORIGIN);
  doubled = [];
});
afterEach(() => {
  file.close();
  server.close();
  rmSync(folder, { recursive: true });
});

const addVersion = (version: number, ownKeys?: string[]): number =>
  operator.add(
    { ...SUBJECT, type: 'snapshot.created', snapshot_version: version, envelope_hash: 'hash' },
    [[STREAM, version]],
    ownKeys,
  );

/** Serves a published log and audits it. Returns the requested paths. */
async function audit(published: Published, served?: Served): Promise<string[]> {
  const asked = servePublished(server, published, served);
  const head = parseCheckpoint(parseNote(published.note).text);
  await new MapAudit(ORIGIN, new PublicLog(server.url), file, (one) => doubled.push(one)).audit(head);
  return asked;
}
const refused = (message: RegExp) =>
  expect.objectContaining({ name: 'Failure', message: expect.stringMatching(message) });

describe('MapAudit of an honest log', () => {
  it('reads only new entries, also after a restart', async () => {
    [1, 2, 3].forEach((version) => addVersion(version));
    expect(await audit(await publishOn(operator))).toEqual(['keys', 'tile/entries/000.p/4']);
    for (let count = 0; count < 300; count++) operator.add({}, count % 30 === 0 ? [[`o/tenant-${count}`, 1]] : []);
    expect(await audit(await publishOn(operator))).toEqual(['tile/entries/000', 'tile/entries/001.p/49']);
    file.close();
    file = MapFile.open(join(folder, 'map'), ORIGIN);
    addVersion(4);
    const last = await publishOn(operator);
    expect(await audit(last)).toEqual(['tile/entries/001.p/51']);
    expect(await audit(last)).toEqual([]);
    expect(doubled).toEqual([]);
    expect(file.audited()).toMatchObject({ startsAt: 0, edge: { size: last.size }, endsWithRoot: true });
  });

  it('locks its map file and refuses that of another log', () => {
    expect(() => MapFile.open(join(folder, 'map'), ORIGIN)).toThrow(/cannot be opened: .*locked/);
    file.keep(ORIGIN, { startsAt: 0, edge: { size: 0, hashes: [] }, backfilledTo: 0, endsWithRoot: false });
    file.close();
    expect(() => MapFile.open(join(folder, 'map'), 'log.example/two')).toThrow(/of the log log.example\/test/);
    file = MapFile.open(join(folder, 'map'), ORIGIN);
  });

  it('fails without entries, without a map, and with an older checkpoint', async () => {
    addVersion(1);
    const [first, second] = [await publishOn(operator), await publishOn(operator)];
    await expect(audit(first, { texts: [] })).rejects.toEqual(refused(/entries\/000.p\/2 answers 404/));
    await expect(audit(first, { startsAt: null })).rejects.toEqual(refused(/has no map. Switch it on/));
    await audit(second);
    await expect(audit(first)).rejects.toEqual(refused(/The audit is at 3 entries/));
  });
});

describe('MapAudit of a lying operator that holds all keys', () => {
  beforeEach(async () => {
    [1, 2, 3].forEach((version) => addVersion(version));
    await audit(await publishOn(operator));
  });

  it('refuses a map from which a key was removed later', async () => {
    addVersion(4);
    const lying = await operator.publish({ hidden: [[STREAM, 3]] });
    await expect(audit(lying)).rejects.toEqual(refused(/root of the map in entry 5 is \w+, but the keys/));
    // Nothing of the failed audit remains.
    await audit(await operator.publish());
  });

  it('refuses an entry that names another key than the map', async () => {
    addVersion(4, [operator.keyTextOf(STREAM, 9)]);
    await expect(audit(await operator.publish())).rejects.toEqual(
      refused(/but the keys of the public entries lead to/),
    );
  });

  it('refuses a root that covers a wrong number of entries', async () => {
    addVersion(4);
    await expect(audit(await operator.publish({ covers: 4 }))).rejects.toEqual(
      refused(/in entry 5 covers 4 entries instead of 5/),
    );
  });

  it('refuses a checkpoint that does not end with the root', async () => {
    const { texts } = await operator.publish();
    await expect(audit(await operator.publish({ last: texts[0] ?? '' }))).rejects.toEqual(
      refused(/The last of 5 entries is not the root/),
    );
  });

  it('refuses a wrong root even if the right one follows', async () => {
    operator.addText(formatMapRootEntry({ covers: 4, root: new Uint8Array(32) }));
    await expect(audit(await operator.publish())).rejects.toEqual(refused(/root of the map in entry 4 is 0000/));
  });

  it('refuses entries that differ from the signed ones', async () => {
    addVersion(4);
    const published = await operator.publish();
    const texts = published.texts.with(4, published.texts[0] ?? '');
    await expect(audit(published, { texts })).rejects.toEqual(refused(/do not lead to the root of the checkpoint/));
    await audit(published);
  });

  it.each([
    ['{"a":1}', /Entry 4 is not the canonical text/],
    [` ${formatMapRootEntry({ covers: 4, root: new Uint8Array(32) })}`, /Entry 4 is not the canonical text/],
    [`{"body":"${'A'.repeat(42)}B","entry_version":"iss_log_entry_v2","keys":[]}`, /Entry 4 is not .*hash of the body/],
    [
      `{"body":"${'A'.repeat(43)}","entry_version":"iss_log_entry_v2","keys":["${'A'.repeat(43)}","${'A'.repeat(43)}"]}`,
      /Entry 4 names a key twice/,
    ],
    [`{"entries":[[]],"from":0,"map_version":"iss_map_v1","type":"map.backfill"}`, /those from 0 on carry their own/],
  ])('refuses the entry %s', async (text, message) => {
    operator.addText(text);
    await expect(audit(await operator.publish())).rejects.toEqual(refused(message));
  });

  it('reports both entries of a version logged twice, and readers refuse it', async () => {
    const again = addVersion(3);
    const published = await operator.publish();
    await audit(published);
    const key = Buffer.from(operator.keyTextOf(STREAM, 3), 'base64url').toString('hex');
    expect(doubled).toEqual([{ key, logIndexes: [2, again] }]);
    await expect(verifyLatest(published, 3, again)).rejects.toMatchObject({ failure: 'logged_twice' });
  });

  it('accepts a key of the wrong entry, but readers of its stream refuse it', async () => {
    const other = operator.add({ type: 'another' }, [[STREAM, 4]]);
    const published = await operator.publish();
    await audit(published);
    await expect(verifyLatest(published, 4, other)).rejects.toMatchObject({ failure: 'not_in_log' });
    await expect(verifyLatest(published, 3, 2)).rejects.toMatchObject({ failure: 'not_newest' });
  });

  async function verifyLatest(published: Published, version: number, index: number) {
    const head = await operator.entryAt(published, index);
    const map = await operator.proof(published, STREAM, version);
    const answer = { ...SUBJECT, snapshot_version: version, as_of_size: published.size, head, map };
    const json: JsonObject = Members.of('The proof', parseJsonText(JSON.stringify(answer), { maxDepth: 20 })).all;
    const policy = await readPolicy(operator.policyOf(published));
    return verifyMapAnswer(Members.of('The proof', json), { policy, vrfKey: operator.vrfKey });
  }
});

describe('MapAudit of a log that is older than its map', () => {
  const STARTS_AT = 256;
  const backfill = (from: number, entries: readonly (readonly string[])[]): string =>
    JSON.stringify({ entries, from, map_version: 'iss_map_v1', type: 'map.backfill' });
  let keys: string[][];

  beforeEach(() => {
    for (let index = 0; index < STARTS_AT; index++)
      operator.addText(`old ${index}`, index < 3 ? [[STREAM, index + 1]] : []);
    keys = Array.from({ length: STARTS_AT }, (_, index) => (index < 3 ? [operator.keyTextOf(STREAM, index + 1)] : []));
    addVersion(4);
  });
  const auditOld = async () => audit(await operator.publish(), { startsAt: STARTS_AT });

  it('accepts a backfill that gives keys to each old entry once', async () => {
    operator.addText(backfill(0, keys.slice(0, 200)));
    operator.addText(backfill(200, keys.slice(200)));
    expect(await auditOld()).toEqual(['keys', 'tile/1/000.p/1', 'tile/entries/001.p/4']);
  });

  it.each<[string, () => void, RegExp]>([
    ['is missing', () => undefined, /root of the map in entry 257 is/],
    [
      'skips the first entries',
      () => operator.addText(backfill(2, keys.slice(2))),
      /gives keys to the entries 2 to 255 and leaves out those from 0/,
    ],
    [
      'skips an entry in between',
      () => [backfill(0, keys.slice(0, 2)), backfill(3, keys.slice(3))].map((text) => operator.addText(text)),
      /leaves out those from 2 on/,
    ],
    [
      'is logged twice',
      () => [backfill(0, keys), backfill(0, keys)].map((text) => operator.addText(text)),
      /Entry 258 gives keys to the entries 0 to 255, but those before 256 have keys already/,
    ],
    [
      'gives keys to the wrong entries',
      () => operator.addText(backfill(0, [[], ...keys.slice(0, -1)])),
      /root of the map in entry 258 is/,
    ],
    ['gives keys to too many entries', () => operator.addText(backfill(0, [...keys, []])), /gives keys to 257 entries/],
    ['includes entries with own keys', () => operator.addText(backfill(1, keys)), /leaves out those from 0 on/],
  ])('refuses a backfill that %s', async (_name, log, message) => {
    log();
    await expect(auditOld()).rejects.toEqual(refused(message));
  });

  it('refuses an unfinished backfill even if the map lacks the same keys', async () => {
    operator.addText(backfill(0, keys.slice(0, 2)));
    const published = await operator.publish({ hidden: [[STREAM, 3]] });
    await expect(audit(published, { startsAt: STARTS_AT })).rejects.toEqual(
      refused(/The entries 2 to 255 have no keys/),
    );
  });
});
