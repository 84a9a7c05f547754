import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { envelope } from './gateway';
import { publishLog } from './publish-log';
import { newSubject, pathOf, ReadWorld, type Subject } from './read-world';

let world: ReadWorld;

beforeAll(async () => {
  world = await ReadWorld.open();
});

afterAll(() => world?.close());

const CHANGED = `envelope = replace(envelope, 'Zürich', 'Zurich')`;
const BROKEN = `envelope = replace(envelope, '"attributes":{', '"attributes":{{')`;

/** Creates a subject with three versions, of which the second and third are damaged. Returns the text of the first. */
async function damagedBy(change: string): Promise<{ subject: Subject; ids: string[] }> {
  const subject = newSubject();
  const ids: string[] = [];
  for (const version of [1, 2, 3]) ids.push(String((await world.write(subject, version))['snapshot_id']));
  for (const version of [2, 3]) await world.tamper(subject, version, change);
  return { subject, ids };
}

async function counted(): Promise<number> {
  const text = await world.gateway.metrics.getSingleMetricAsString('damaged_texts_total');
  return Number(/^damaged_texts_total(?:\{[^}]*\})? (\d+)$/m.exec(text)?.[1]);
}

/** Reads that need the text of the damaged version 3, or of version 2. */
const READS = (base: string, id: string, first: string): string[] => [
  base,
  `${base}/snapshots/latest`,
  `${base}/snapshots/3`,
  `/v1/tenants/acme/snapshots/${id}`,
  `/v1/snapshots/${id}`,
  `${base}/snapshots/latest?as_of=2100-01-01T00:00:00Z`,
  `${base}?as_of=2100-01-01T00:00:00Z`,
  `${base}/history?view=full`,
  `${base}/export`,
  `${base}/diff?from_version=1&to_version=3`,
  `/v1/snapshots/${first}/diff/${id}`,
  `${base}/provenance`,
];

it('the counter of damaged texts starts at zero', async () => {
  expect(await counted()).toBe(0);
});

describe.each([
  ['changed', CHANGED],
  ['no longer JSON', BROKEN],
])('a stored text that is %s', (_, change) => {
  it('is refused with 500 by every operation that needs it', async () => {
    const { subject, ids } = await damagedBy(change);
    const [first = '', , last = ''] = ids;
    for (const path of READS(pathOf('/v1/tenants/acme', subject), last, first)) {
      const before = await counted();
      const answer = await world.read(path, 500);
      expect([path, answer.body.error]).toMatchObject([path, { code: 'damaged' }]);
      expect(answer.body.error.message).toMatch(new RegExp(`^Version [23] of organization/${subject.subject_id} `));
      expect(answer.headers['link']).toContain('#damaged');
      expect(await counted()).toBeGreaterThan(before);
    }
  });
});

it('a damaged version refuses proposals, applications and later versions', async () => {
  const subject = await world.written(1);
  const base = pathOf('/v1/tenants/acme', subject);
  const propose = async (status: number): Promise<{ update_id: string; error: { code: string } }> => {
    const { subject_id } = subject;
    const proposal = {
      subject_id,
      base_snapshot_version: 1,
      patch_ops: [{ op: 'add', path: '/attributes/more', value: 1 }],
    };
    return (await world.gateway.as('alice', 'post', `${base}/updates`).send(proposal).expect(status)).body;
  };
  const { update_id } = await propose(201);
  await world.tamper(subject, 1, CHANGED);
  const apply = await world.gateway.as('alice', 'post', `${base}/updates/${update_id}/apply`);
  const later = envelope({ subject, snapshot_version: 2 });
  const write = await world.gateway.as('alice', 'post', '/v1/tenants/acme/entity-states').send(later);
  const refused = [(await propose(500)).error.code, ...[apply, write].map(({ body }) => body.error?.code)];
  expect(refused).toEqual(['damaged', 'damaged', 'damaged']);
});

it('a damaged version leaves headers, hashes, verifications and other versions readable', async () => {
  const { subject, ids } = await damagedBy(CHANGED);
  const base = pathOf('/v1/tenants/acme', subject);
  const before = await counted();
  await world.read(`${base}/snapshots/1`);
  await world.read(`${base}/snapshots/3?view=header`);
  expect((await world.read(`${base}/history?view=header`)).body.items).toHaveLength(3);
  await world.read(`/v1/snapshots/${ids[2]}/proof`);
  expect((await world.read(`${base}/chain-proof`)).body.chain_valid).toBe(false);
  expect((await world.read(`${base}/snapshots/3?verify=hash`)).body.verification.hash.valid).toBe(false);
  expect((await world.read(`${base}/history?view=header&verify=hash`)).body.items).toHaveLength(3);
  expect(await counted()).toBe(before);
});

it('callers without access do not learn that a version is damaged', async () => {
  const { subject, ids } = await damagedBy(CHANGED);
  await world.read(`${pathOf('/v1/tenants/acme', subject)}/snapshots/3`, 403, 'bob');
  await world.read(`/v1/snapshots/${ids[2]}`, 404, 'bob');
});

it('a version without a hash is readable if it is JSON, and damaged otherwise', async () => {
  const subject = await world.written(1);
  const path = `${pathOf('/v1/tenants/acme', subject)}/snapshots/1`;
  await world.tamper(subject, 1, 'envelope_hash = NULL');
  await world.read(path);
  await world.tamper(subject, 1, BROKEN);
  expect((await world.read(path, 500)).body.error.code).toBe('damaged');
});

it('a bundle with a damaged version is refused', async () => {
  const subject = await world.written(2);
  await publishLog(world.gateway.databaseUrl);
  await world.tamper(subject, 1, CHANGED);
  const path = `${pathOf('/v1/tenants/acme', subject)}/export?proofs=log`;
  const answer = await world.read(path, 500).set('Accept', 'application/x-ndjson');
  expect(answer.body.error.code).toBe('damaged');
});

it('the commands of the runbook restore a damaged version', async () => {
  const { subject, ids } = await damagedBy(CHANGED);
  const path = `${pathOf('/v1/tenants/acme', subject)}/snapshots/2`;
  const { text } = await world.read(path, 500);
  expect(text).toContain('damaged');
  const runbook = readFileSync(join(__dirname, '../../../docs/operations/runbooks.md'), 'utf8');
  const [, commands = ''] = /```sql\n(SET session_replication_role[^`]*)```/.exec(runbook) ?? [];
  const { superuser } = world;
  const stored = await superuser.query('SELECT envelope FROM snapshots WHERE snapshot_id = $1', [ids[1]]);
  const written = stored.rows[0].envelope.replace('Zurich', 'Zürich');
  const filled = commands
    .replace('$text', () => superuser.escapeLiteral(written))
    .replace('$snapshot_id', () => superuser.escapeLiteral(String(ids[1])));
  await superuser.query(filled);
  const { body } = await world.read(`${path}?verify=hash`);
  expect(body.verification.hash).toMatchObject({ valid: true });
  expect((await superuser.query('SHOW session_replication_role')).rows).toEqual([
    { session_replication_role: 'origin' },
  ]);
});
