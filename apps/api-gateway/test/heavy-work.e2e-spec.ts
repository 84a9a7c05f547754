import { createHash, randomUUID } from 'node:crypto';
import { canonicalize, type JsonObject, type JsonValue } from '@iss/domain';
import { decodeBase64, leafHash, parseCheckpoint, verifyInclusion } from '@iss/tlog';
import { envelope, type TestGateway } from './gateway';
import { publishLog } from './publish-log';
import { newSubject, pathOf, ReadWorld, type Subject } from './read-world';

/** Larger than the work that runs without a thread, and smaller than the maximum of a body. */
const LARGE = 300_000;
const STATES = '/v1/tenants/acme/entity-states';

let world: ReadWorld;
let gateway: TestGateway;

beforeAll(async () => {
  // The places are few, so that a few requests fill them.
  world = await ReadWorld.open({ WORK_THREADS: '1', WORK_QUEUE_MAX: '4' });
  gateway = world.gateway;
});

afterAll(() => world?.close());

const large = (note: string): JsonObject => ({
  list: Array.from({ length: LARGE / 20 }, (_, at) => ({ at, é: `n ${at}` })),
  note,
});

/** Returns the figure with this label. */
async function figureOf(name: string, part: string, label: string): Promise<number> {
  const text = await gateway.metrics.getSingleMetricAsString(name);
  return Number(new RegExp(`^${name}${part}\\{[^}]*${label}[^}]*\\} (\\S+)`, 'm').exec(text)?.[1] ?? 0);
}

/** Returns the number of tasks of a kind that have run in threads. */
const ran = (task: string): Promise<number> => figureOf('work_task_processor_seconds', '_count', `task="${task}"`);

/** Returns the result of `act`, after checking that this number of tasks of this kind ran in threads. */
async function inThreads<T>(task: string, count: number, act: () => Promise<T>): Promise<T> {
  const before = await ran(task);
  const result = await act();
  expect((await ran(task)) - before).toBe(count);
  return result;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('work on large documents', () => {
  let subject: Subject;
  let first: Record<string, JsonValue>;

  beforeAll(async () => {
    subject = newSubject();
    first = { ...envelope({ subject, attributes: large('a') }) } as Record<string, JsonValue>;
  });

  it('runs in a thread for a direct write', async () => {
    const post = (): Promise<{ body: { envelope_hash: string } }> =>
      gateway.as('alice', 'post', STATES).send(first).expect(201).then();
    const { body } = await inThreads('read_envelope', 1, post);
    expect(body.envelope_hash).toBe(sha256(canonicalize(first)));
  });

  it('runs in threads for a large proposal, a proposal on a large base, and its application', async () => {
    const path = `${pathOf('/v1/tenants/acme', subject)}/updates`;
    const { subject_id } = subject;
    const propose = (patch_ops: unknown): Promise<{ body: { update_id: string; patch_ops: unknown } }> =>
      gateway
        .as('alice', 'post', path)
        .send({ subject_id, base_snapshot_version: 1, patch_ops })
        .expect(201)
        .then();
    const whole = [{ op: 'add', path: '/attributes/other', value: large('b') }];
    const proposed = await inThreads('read_proposal', 1, () => propose(whole));
    expect(proposed.body.patch_ops).toEqual(whole);
    const rename = [{ op: 'replace', path: '/attributes/note', value: 'b' }];
    const { update_id } = (await inThreads('try_patch', 1, () => propose(rename))).body;
    const apply = async (): Promise<void> => {
      await gateway.as('alice', 'post', `${path}/${update_id}/apply`).expect(200);
    };
    await inThreads('apply_update', 1, apply);
    const { envelope: applied, envelope_hash } = (await world.read(`${pathOf('/v1', subject)}/snapshots/2`, 200, 'alice'))
      .body;
    expect(applied).toMatchObject({ attributes: { ...large('b') }, diff: { format: 'rfc6902', ops: rename } });
    expect(envelope_hash).toBe(sha256(canonicalize(applied)));
  }); // prettier-ignore

  it('runs in a thread for a patch that makes the document invalid', async () => {
    const send = (): Promise<{ body: { error: { details: unknown } } }> =>
      gateway
        .as('alice', 'post', `${pathOf('/v1/tenants/acme', subject)}/updates`)
        .send({
          subject_id: subject.subject_id,
          base_snapshot_version: 2,
          patch_ops: [{ op: 'remove', path: '/evidence' }],
        })
        .expect(400)
        .then();
    const { body } = await inThreads('try_patch', 1, send);
    expect(body.error.details).toEqual([
      { path: '/patch_ops/0', message: 'in the result, /evidence is required', code: 'required' },
    ]);
  });

  it.each<[string, string, number, string, (body: JsonObject) => unknown, unknown]>([
    ['a diff', 'diff', 1, '/diff?from_version=1&to_version=2', ({ ops }) => ops, [{ op: 'replace', path: '/attributes/note', value: 'b' }]],
    ['a summary', 'summarize', 1, '', ({ identity }) => identity, large('b')],
    ['a verified hash', 'check_snapshot', 1, '/snapshots/2?verify=hash', (body) => body['verification'], expect.objectContaining({ hash: expect.objectContaining({ valid: true }) })],
    ['a verified chain', 'check_links', 1, '/snapshots/2?verify=chain&depth=all', (body) => body['verification'], expect.objectContaining({ chain: expect.objectContaining({ valid: true, complete: true }) })],
    ['a verified history', 'check_snapshot', 2, '/history?verify=hash', ({ items }) => (Array.isArray(items) ? items.length : 0), 2],
  ])('runs in threads for %s', async (_what, task, count, path, shown, expected) => {
    const read = (): Promise<{ body: JsonObject }> => world.read(pathOf('/v1/tenants/acme', subject) + path).then();
    expect(shown((await inThreads(task, count, read)).body)).toEqual(expected);
  }); // prettier-ignore

  it('runs in a thread for the proofs of a long bundle, 256 versions per task', async () => {
    const long = await world.lineage(300);
    await publishLog(gateway.databaseUrl);
    const path = `${pathOf('/v1/tenants/acme', long)}/export?proofs=log`;
    const read = () => gateway.as('alice', 'get', path).set('Accept', 'application/x-ndjson').expect(200);
    // The last 44 are few enough for one proof.
    const { text } = await inThreads('prove_inclusions', 1, async () => read());
    const [head = '', ...lines] = text.trimEnd().split('\n');
    expect(lines).toHaveLength(300);
    const [noteText = ''] = String(JSON.parse(head).checkpoint).split('\n\n');
    const checkpoint = parseCheckpoint(`${noteText}\n`);
    for (const line of lines) {
      const { entry, log_index, inclusion } = JSON.parse(line);
      const hashes = inclusion.map((hash: string) => decodeBase64(hash, 'hash'));
      verifyInclusion(leafHash(entry), log_index, checkpoint, hashes);
    }
  });

  it('runs in a thread for a body with many unknown members', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`u${at}`, [[at]]]));
    const send = (): Promise<{ body: { error: { details: unknown[] } } }> =>
      gateway.as('alice', 'patch', '/v1/tenants/acme').send(unknown).expect(400).then();
    const { body } = await inThreads('read_body', 1, send);
    expect(body.error.details).toHaveLength(100);
  });
});

describe('a large body from a caller that may not write', () => {
  it.each<[string, string, (size: number) => object]>([
    ['a direct write', '/v1/tenants/nobody/entity-states', (size) => envelope({ attributes: { x: 'x'.repeat(size) } })],
    ['a direct write by a reader', STATES, (size) => envelope({ attributes: { x: 'x'.repeat(size) } })],
    ['a proposal', '/v1/tenants/nobody/entity-state-updates', (size) => proposal('x'.repeat(size))],
  ])('%s is refused like a small one', async (_what, path, make) => {
    const small = await gateway.as('reader', 'post', path).send(make(1)).expect(403);
    const before = await ran('read_envelope');
    const { error } = (await gateway.as('reader', 'post', path).send(make(LARGE)).expect(403)).body;
    expect({ ...error, request_id: null }).toEqual({ ...small.body.error, request_id: null });
    expect(await ran('read_envelope')).toBe(before);
  });

  it('is refused before it is parsed, unlike a small one', async () => {
    const post = (body: string, status: number): Promise<unknown> =>
      gateway
        .as('reader', 'post', '/v1/tenants/nobody/entity-states')
        .set('Content-Type', 'application/json')
        .send(body)
        .expect(status)
        .then();
    await post('['.repeat(LARGE), 403);
    await post('[', 400);
  });
});

it('heavy work beyond the queue gets 503 with Retry-After, and other requests succeed', async () => {
  const send = (): Promise<{ status: number; headers: Record<string, string> }> =>
    gateway.as('alice', 'post', STATES).send(envelope({ attributes: large('c') })).then();
  const answers = await Promise.all(Array.from({ length: 12 }, send));
  const statuses = answers.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([201, 503]));
  for (const { status, headers } of answers) if (status === 503) expect(headers['retry-after']).toBe('1');
  await gateway.as('alice', 'post', STATES).send(envelope()).expect(201);
  await gateway.as('alice', 'post', STATES).send(envelope({ attributes: large('d') })).expect(201);
}); // prettier-ignore

function proposal(value: string): object {
  return {
    subject_type: 'organization',
    subject_id: 'x',
    base_snapshot_id: randomUUID(),
    base_snapshot_version: 1,
    patch_ops: [{ op: 'add', path: '/attributes/x', value }],
  };
}
