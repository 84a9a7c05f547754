import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { operatorEnv } from '@iss/platform';
import { waitFor } from '../../../tools/testing/wait-for';
import { iss } from '../../cli/test/testing/run-iss';
import { publishLog } from './publish-log';
import { newSubject, pathOf, ReadWorld, type Subject } from './read-world';

const folder = mkdtempSync(join(tmpdir(), 'iss-archive-'));
const [store, mirror] = [join(folder, 'store'), join(folder, 'mirror')];
for (const path of [store, mirror]) mkdirSync(path);
const [url, mirrorUrl] = [String(pathToFileURL(store)), String(pathToFileURL(mirror))];

let world: ReadWorld;
let mirrored: ReadWorld;

beforeAll(async () => {
  world = await ReadWorld.open({ ARCHIVE_URL: url });
  mirrored = await ReadWorld.open({ ARCHIVE_URL: url, ARCHIVE_MIRROR_URL: mirrorUrl });
});
afterAll(async () => {
  await world?.close();
  await mirrored?.close();
  rmSync(folder, { recursive: true, force: true });
});

const archiveAll = async (of = world, copy?: string): Promise<void> =>
  (await productHost()).archiveAll(of.gateway.databaseUrl, url, copy);

/** A subject with four versions, three of them archived. */
async function archived(of = world, copy?: string): Promise<{ subject: Subject; base: string; ids: string[] }> {
  const subject = newSubject();
  const ids: string[] = [];
  for (const version of [1, 2, 3, 4]) {
    const attributes = { legal: { legal_name: `Zürich ${version} AG` }, history: 'x'.repeat(version * 1000) };
    ids.push(String((await of.write(subject, version, { attributes }))['snapshot_id']));
  }
  await archiveAll(of, copy);
  return { subject, base: pathOf('/v1/tenants/acme', subject), ids };
}

/** The places of the texts of a subject, by version. */
async function placesOf({ subject_id }: Subject, of = world) {
  const { rows } = await of.superuser.query<{
    version: number;
    object: string | null;
    start: number;
    text: string | null;
  }>(
    `SELECT n.snapshot_version AS version, p.object_id AS object, n.pack_offset AS start, n.envelope AS text
       FROM snapshots n JOIN subjects s USING (subject_key) LEFT JOIN archive_packs p USING (pack_id)
      WHERE s.subject_id = $1 ORDER BY 1`,
    [subject_id],
  );
  return rows;
}

/** Changes one byte of an archived text. */
async function corrupt(subject: Subject, version: number, of = world, root = store): Promise<void> {
  const place = (await placesOf(subject, of))[version - 1];
  if (place === undefined || place.object === null) throw new Error(`version ${version} is not archived`);
  const path = join(root, 'packs', place.object);
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(place.start + 20) ^ 1, place.start + 20);
  writeFileSync(path, bytes);
}

/** The paths of every operation that shows the text of version 2. */
const READS = (base: string, [first = '', second = '']: readonly string[]): string[] => [
  `${base}/snapshots/2`,
  `${base}/snapshots/2?verify=hash`,
  `/v1/tenants/acme/snapshots/${second}`,
  `/v1/snapshots/${second}`,
  `${base}/history?view=full`,
  `${base}/history?view=full&order=desc&verify=hash`,
  `${base}/export`,
  `${base}/diff?from_version=1&to_version=2`,
  `/v1/snapshots/${first}/diff/${second}`,
  `${base}/provenance?version=2`,
];

it('every read of an archived version returns the same as before', async () => {
  const subject = newSubject();
  const ids: string[] = [];
  for (const version of [1, 2, 3]) ids.push(String((await world.write(subject, version))['snapshot_id']));
  const paths = READS(pathOf('/v1/tenants/acme', subject), ids);
  const before = new Map<string, string>();
  for (const path of paths) before.set(path, (await world.read(path)).text);
  await archiveAll();
  expect((await placesOf(subject)).map(({ object, text }) => [object !== null, text !== null])).toEqual([
    [true, false],
    [true, false],
    [false, true],
  ]);
  for (const path of paths) expect([path, (await world.read(path)).text]).toEqual([path, before.get(path)]);
});

it('reads of a damaged archived version return 502 and name it; other versions stay readable', async () => {
  const { subject, base, ids } = await archived();
  await corrupt(subject, 2);
  for (const path of READS(base, ids)) {
    const { body } = await world.read(path, 502);
    expect([path, body.error]).toMatchObject([path, { code: 'archive_damaged' }]);
    expect(body.error.message).toContain(`Version 2 of organization/${subject.subject_id}`);
  }
  for (const version of [1, 3, 4]) await world.read(`${base}/snapshots/${version}`);
  await world.read(`${base}/snapshots/latest?verify=hash`);
});

it('reads of archived versions return 503 while the store is missing; other reads succeed', async () => {
  const { base, ids } = await archived();
  renameSync(store, `${store}.away`);
  try {
    for (const path of READS(base, ids)) {
      const { body, headers } = await world.read(path, 503);
      expect([path, body.error.code, headers['retry-after']]).toEqual([path, 'archive_unavailable', '1']);
    }
    await world.read(`${base}/snapshots/latest?verify=hash`);
    await world.read(`${base}/history`);
    const { body } = await world.read('/v1/ops/readiness');
    expect(body).toMatchObject({ status: 'ready', checks: { archive: { status: 'degraded' } } });
  } finally {
    renameSync(`${store}.away`, store);
  }
  // The gateway asks the store again a second after the last failure.
  const readsAgain = async (): Promise<boolean> =>
    (await world.gateway.as('reader', 'get', `${base}/snapshots/2`)).status === 200;
  await waitFor(readsAgain, { what: 'the store to be asked again' });
});

it('archived versions are read from the mirror if the store is damaged or missing', async () => {
  const { subject, base, ids } = await archived(mirrored, mirrorUrl);
  await corrupt(subject, 2, mirrored);
  for (const path of READS(base, ids)) await mirrored.read(path);
  const other = await archived(mirrored, mirrorUrl);
  renameSync(store, `${store}.away`);
  try {
    for (const path of READS(other.base, other.ids)) await mirrored.read(path);
  } finally {
    renameSync(`${store}.away`, store);
  }
});

it('erasing archived versions removes them from the text count of their pack', async () => {
  const { subject, base } = await archived();
  const [{ object } = { object: null }] = await placesOf(subject);
  await publishLog(world.gateway.databaseUrl);
  const admin = `/v1/tenants/acme/members/${encodeURIComponent('oidc:test#admin')}`;
  await world.gateway.as('alice', 'put', admin).send({ role: 'tenant_admin' }).expect(200);
  const asked = { versions: [1, 2], reason: 'A request', reference: 'R-1' };
  const { body } = await world.gateway.as('alice', 'post', `${base}/erasure`).send(asked).expect(201);
  await world.gateway.as('admin', 'post', `${base}/erasures/${body.erasure_id}/confirm`).expect(200);
  for (const version of [1, 2]) await world.read(`${base}/snapshots/${version}`, 410);
  await world.read(`${base}/snapshots/3`);
  const { rows } = await world.superuser.query(
    `SELECT p.texts, (SELECT count(*)::int FROM snapshot_views WHERE view_secret IS NULL) AS erased FROM archive_packs p
      WHERE p.object_id = $1`,
    [object],
  );
  expect(rows).toEqual([{ texts: 1, erased: 2 }]);
});

it('the database moves a text only to a verified pack, and never the text of the latest version', async () => {
  const subject = newSubject();
  for (const version of [1, 2, 3]) await world.write(subject, version);
  // Makes the views.
  await publishLog(world.gateway.databaseUrl);
  const { rows } = await world.superuser.query<{ id: number; state: string }>(
    `INSERT INTO archive_packs (object_id, bytes, state) VALUES (gen_random_uuid(), 100, 'written'), (gen_random_uuid(), 100, 'verified')
     RETURNING pack_id AS id, state`,
  );
  const move = async (version: number, state: string, length = 92): Promise<string> => {
    const moved = world.superuser.query(
      `UPDATE snapshots SET envelope = NULL, pack_id = $3, pack_offset = 8, pack_length = $4, text_bytes = octet_length(envelope)
        WHERE snapshot_version = $2 AND subject_key = (SELECT subject_key FROM subjects WHERE subject_id = $1)`,
      [subject.subject_id, version, rows.find((row) => row.state === state)?.id, length],
    );
    return moved.then(
      () => 'moved',
      (error: Error) => error.message,
    );
  };
  const refused = 'snapshots are immutable: UPDATE is refused';
  // Runs as the owner of the tables, whom no privilege restricts.
  expect([
    await move(1, 'written'),
    await move(3, 'verified'),
    await move(1, 'verified', 93),
    await move(1, 'verified'),
    await move(1, 'verified'),
  ]).toEqual([refused, refused, refused, 'moved', refused]);
  await world.superuser.query(`UPDATE archive_packs SET state = 'dropped' WHERE state = 'written'`);
});

it('archived objects contain no plain text', async () => {
  const { subject } = await archived();
  for (const { object } of await placesOf(subject)) {
    if (object !== null) expect(readFileSync(join(store, 'packs', object)).includes(subject.subject_id)).toBe(false);
  }
  expect(readdirSync(join(store, 'packs')).some((name) => name.endsWith('.tmp'))).toBe(false);
});

it('an audit with --archive replays updates whose texts are archived', async () => {
  const own = await ReadWorld.open({ ARCHIVE_URL: url });
  try {
    const subject = newSubject();
    await own.write(subject, 1);
    const updates = `${pathOf('/v1/tenants/acme', subject)}/updates`;
    for (const version of [1, 2, 3]) {
      const patch_ops = [{ op: 'add', path: '/attributes/note', value: `note ${version}` }];
      const { subject_id } = subject;
      const proposal = { subject_id, base_snapshot_version: version, patch_ops };
      const proposed = await own.gateway.as('alice', 'post', updates).send(proposal).expect(201);
      await own.gateway.as('alice', 'post', `${updates}/${proposed.body.update_id}/apply`).expect(200);
    }
    const { vkey } = await publishLog(own.gateway.databaseUrl);
    await archiveAll(own);
    const env = async () => operatorEnv({ DATABASE_URL: own.gateway.databaseUrl, ARCHIVE_URL: url });
    const audit = async (...words: string[]) => {
      const base = ['audit', '--json', '--jobs', '1', '--database-url', own.gateway.databaseUrl];
      return JSON.parse((await iss([...base, ...words], { env })).printed);
    };
    const replayed = { updates_replayed: 3, updates_not_replayed: 0, archived_texts: 3, archived_texts_read: 3 };
    const unread = { updates_replayed: 0, updates_not_replayed: 3, archived_texts: 3, archived_texts_read: 0 };
    const signed = ['--vkey', vkey];
    expect(await audit(...signed)).toMatchObject({ clean: true, ...unread });
    expect(await audit(...signed, '--archive')).toMatchObject({ clean: true, ...replayed });
    await own.superuser.query(`SET session_replication_role = replica;
      UPDATE snapshot_provenance SET changed_paths = '["/attributes/other"]' WHERE snapshot_version = 2;
      UPDATE updates SET patch_ops = replace(patch_ops, 'note 3', 'note 4') WHERE base_snapshot_version = 3;
      RESET session_replication_role`);
    expect(await audit(...signed)).toMatchObject({ clean: true });
    for (const words of [signed, ['--no-log']]) {
      expect((await audit(...words, '--archive')).findings_by_check).toEqual({ changed_paths: 1, patch: 2 });
    }
    await corrupt(subject, 2, own);
    expect((await audit(...signed, '--archive')).findings_by_check).toMatchObject({ archived: 1 });
  } finally {
    await own.close();
  }
});

it('commands audit, verify, move and restore the archive', async () => {
  const own = await ReadWorld.open({ ARCHIVE_URL: url });
  try {
    const { subject, base, ids } = await archived(own);
    const { vkey } = await publishLog(own.gateway.databaseUrl);
    const run = (...words: string[]) =>
      iss(words, { env: async () => operatorEnv({ DATABASE_URL: own.gateway.databaseUrl, ARCHIVE_URL: url }) });
    const audit = ['audit', '--database-url', own.gateway.databaseUrl, '--jobs', '1', '--vkey', vkey, '--archive'];
    expect(JSON.parse((await run('archive', 'status', '--json')).printed)).toMatchObject({
      answers: true,
      packs: [{ state: 'verified', texts: 3, unused: 0 }],
    });
    expect(await run(...audit)).toMatchObject({
      exitCode: 0,
      printed: expect.stringContaining('Verified 3 archived texts. Damaged: 0.'),
    });
    await corrupt(subject, 2, own);
    expect(await run(...audit)).toMatchObject({ exitCode: 1 });
    const { exitCode, printed } = await run('archive', 'verify');
    expect([exitCode, printed]).toEqual([
      1,
      expect.stringContaining(`version 2 of organization/${subject.subject_id}`),
    ]);
    await corrupt(subject, 2, own);
    expect(await run('archive', 'verify')).toMatchObject({ exitCode: 0, printed: 'Verified 3 archived texts.' });
    const moved = ['archive', 'move', '--to', String(pathToFileURL(join(folder, 'moved')))];
    mkdirSync(join(folder, 'moved'));
    const copied = (packs: string) => `${packs} Verified 3 archived texts in the other store.`;
    expect(await run(...moved)).toMatchObject({ exitCode: 0, printed: copied('Copied 1 packs; 0 were there.') });
    expect(await run(...moved)).toMatchObject({ exitCode: 0, printed: copied('Copied 0 packs; 1 were there.') });
    await corrupt(subject, 2, own, join(folder, 'moved'));
    expect(await run(...moved)).toMatchObject({ exitCode: 1 });
    expect(await run('archive', 'restore')).toMatchObject({ exitCode: 2 });
    await corrupt(subject, 2, own);
    expect(await run('archive', 'restore', '--all')).toMatchObject({ exitCode: 1, printed: 'Restored 2 texts.' });
    await corrupt(subject, 2, own);
    expect(await run('archive', 'restore', '--all')).toMatchObject({ exitCode: 0, printed: 'Restored 1 texts.' });
    expect((await placesOf(subject, own)).map(({ object, text }) => [object, text !== null])).toEqual(
      [1, 2, 3, 4].map(() => [null, true]),
    );
    for (const path of READS(base, ids)) await own.read(path);
  } finally {
    await own.close();
  }
});
