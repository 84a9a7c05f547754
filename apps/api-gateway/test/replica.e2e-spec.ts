import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Client } from 'pg';
import type { Response } from 'supertest';
import { addLineage } from '../../../tools/testing/lineage';
import { createTestDatabase, type TestDatabase } from '../../../tools/testing/test-database';
import { waitFor } from '../../../tools/testing/wait-for';
import { envelope, startGateway, type TestGateway, type User } from './gateway';
import { publishLog } from './publish-log';

const ACME = '/v1/tenants/acme';
const TYPE = 'organization';
/** The key is the same, so that both gateways make the same cursors. */
const KEYS = { SECRETS_KEYS: `test:${randomBytes(32).toString('base64')}` };

/** Rows that the replica has: copied one by one, so that it lags until the test copies them. */
const COPIED = ['subjects', 'snapshots', 'snapshot_provenance', 'snapshot_views', 'erasures', 'archive_packs'] as const;

let gateway: TestGateway;
let copy: TestDatabase;
let way: Way;
let primary: Client;
let replica: Client;

beforeAll(async () => {
  copy = await createTestDatabase({ migrated: 'service' });
  way = await wayTo(copy.url);
  gateway = await startGateway({ ...KEYS, DATABASE_REPLICA_URL: way.url });
  primary = new Client({ connectionString: gateway.databaseUrl });
  replica = new Client({ connectionString: copy.url, options: '-c session_replication_role=replica' });
  await Promise.all([primary.connect(), replica.connect()]);
  await send('alice', 'post', '/v1/tenants', { tenant_id: 'acme', name: 'Acme' }, 201);
  await send('bob', 'post', '/v1/tenants', { tenant_id: 'beta', name: 'Beta' }, 201);
  await send('bob', 'put', `/v1/tenants/beta/principals/${idOf('bob')}`, { allow_counterparty_access: true });
  await send('alice', 'put', `${ACME}/members/${idOf('admin')}`, { role: 'tenant_admin' });
});

afterAll(async () => {
  await Promise.all([primary?.end(), replica?.end()]);
  await gateway?.close();
  await way?.close();
  await copy?.drop();
});

const idOf = (user: string): string => encodeURIComponent(`oidc:test#${user}`);

async function send(
  user: User,
  method: 'get' | 'post' | 'put',
  path: string,
  body?: object,
  status = 200,
): Promise<Response> {
  const request = gateway.as(user, method, path);
  const answer = await (body === undefined ? request : request.send(body));
  expect([path, answer.status, answer.text]).toEqual([path, status, answer.text]);
  return answer;
}

/** Copies all rows to the replica, or only those of one subject. */
async function copyAll(subjectId?: string): Promise<void> {
  const { rows: keys } = await primary.query<{ key: string }>(
    'SELECT subject_key AS key FROM subjects WHERE subject_id = $1',
    [subjectId ?? ''],
  );
  const ofSubject = subjectId === undefined ? '' : `WHERE subject_key = ${keys[0]?.key}`;
  for (const table of COPIED) {
    const these = table === 'archive_packs' ? '' : ofSubject;
    const { rows } = await primary.query<{ row: string }>(`SELECT t::text AS row FROM ${table} t ${these}`);
    await replica.query(`DELETE FROM ${table} ${these}`);
    await replica.query(`INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM unnest($1::${table}[])`, [
      rows.map(({ row }) => row),
    ]);
  }
}

/** A connection to a server through which nothing passes while the test holds it. */
interface Way {
  url: string;
  hold(): void;
  release(): void;
  close(): Promise<void>;
}

async function wayTo(databaseUrl: string): Promise<Way> {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let isHeld = false;
  const server: Server = createServer((socket) => {
    const onward = connect(Number(port), hostname);
    for (const [end, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(end);
      end.on('data', (data) => isHeld || other.write(data));
      end.on('error', () => undefined).on('close', () => other.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const url = new URL(databaseUrl);
  url.port = String(address.port);
  return {
    url: url.href,
    hold: () => void (isHeld = true),
    release: () => {
      isHeld = false;
      for (const socket of sockets) socket.destroy();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

async function outcomes(): Promise<Record<string, number>> {
  const metric = await gateway.metrics.getSingleMetric('database_replica_reads_total')?.get();
  return Object.fromEntries((metric?.values ?? []).map(({ labels, value }) => [String(labels['outcome']), value]));
}

/**
 * Counts the reads that `work` caused, by outcome. Works again if the replica, whose answers have half a second, was too slow on
 * a busy machine.
 */
async function outcomesOf(work: () => Promise<unknown>): Promise<Record<string, number>> {
  return waitFor(async () => {
    gateway.sent.length = 0;
    gateway.sentToReplica.length = 0;
    const outcomes = await allOutcomesOf(work);
    return outcomes['away'] === undefined && outcomes['failed'] === undefined ? outcomes : null;
  });
}

async function allOutcomesOf(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await outcomes();
  await work();
  const after = Object.entries(await outcomes()).map(([name, count]): [string, number] => [
    name,
    count - (before[name] ?? 0),
  ]);
  return Object.fromEntries(after.filter(([, count]) => count !== 0));
}

/** Creates a subject of acme with this number of versions. */
async function lineage(count: number, padding = 0): Promise<string> {
  const subjectId = `subject-${randomUUID()}`;
  await addLineage(primary, { tenantId: 'acme', subjectType: TYPE, subjectId }, count, padding);
  return subjectId;
}

/** Does the same through the API. */
async function written(
  count: number,
  attributes: Record<string, unknown> = { legal: { legal_name: 'A' } },
): Promise<string> {
  const subjectId = `subject-${randomUUID()}`;
  for (let version = 1; version <= count; version += 1) {
    const subject = { subject_type: TYPE, subject_id: subjectId };
    const body = envelope({
      subject,
      snapshot_version: version,
      attributes: { ...attributes, version: `v${version}` },
    });
    await send('alice', 'post', `${ACME}/entity-states`, body, 201);
  }
  return subjectId;
}

const pathOf = (subjectId: string, form = ACME): string => `${form}/subjects/${TYPE}/${subjectId}`;

async function grant(subjectId: string): Promise<string> {
  const body = { grantee_tenant_id: 'beta', subject_type: TYPE, subject_id: subjectId, scopes: ['read_lineage'] };
  return String((await send('alice', 'post', `${ACME}/grants`, body, 201)).body.grant_id);
}

const READS: readonly [read: string, primary: string[], replica: string[]][] = [
  ['export', ['snapshot_lineage_known_tenant'], ['snapshot_lineage_copied_asc']],
  ['export.ndjson', ['snapshot_lineage_known_tenant'], ['snapshot_lineage_copied_asc']],
  ['history?limit=40', ['snapshot_lineage_known_tenant'], ['snapshot_lineage_copied_desc']],
  ['history?limit=7&view=full&order=asc', ['snapshot_lineage_known_tenant'], ['snapshot_lineage_copied_asc']],
  [
    'history?limit=20&verify=chain',
    ['snapshot_lineage_known_tenant', 'snapshot_lineage_known_below'],
    ['snapshot_lineage_copied_desc', 'snapshot_lineage_copied_desc'],
  ],
  [
    'chain-proof?limit=30',
    ['snapshot_lineage_known_tenant', 'snapshot_lineage_known_below'],
    ['snapshot_lineage_copied_desc', 'snapshot_lineage_copied_desc'],
  ],
];

describe('data that the replica has', () => {
  let subject: string;
  let plain: TestGateway;

  beforeAll(async () => {
    subject = await lineage(60);
    await copyAll();
    plain = await startGateway(KEYS, gateway);
  });
  afterAll(() => plain?.close());

  it.each(READS)('is read from the replica with the same response: %s', async (read, ofPrimary, ofReplica) => {
    const path = `${pathOf(subject)}/${read}`;
    let text = '';
    await outcomesOf(async () => ({ text } = await send('alice', 'get', path)));
    expect({ primary: gateway.sent, replica: gateway.sentToReplica }).toEqual({
      primary: ofPrimary,
      replica: ofReplica,
    });
    const expected = await plain.withToken(await plain.issuer.mint('alice'), 'get', path);
    expect(text.length).toBeGreaterThan(1000);
    expect(text).toBe(expected.text);
  });

  it.each([
    ['diff?from_version=1&to_version=2', 'snapshot_pair_versions_tenant', ['snapshot_pair_versions_tenant']],
    ['provenance', 'provenance_latest_tenant', ['provenance_latest_tenant', 'provenance_versions']],
  ])('provides large texts for %s, while small ones come from the primary', async (read, statement, ofPrimary) => {
    const large = await written(2, { padding: 'x'.repeat(20_000) });
    await copyAll();
    const asked = async (subjectId: string): Promise<string> => {
      gateway.sentToReplica.length = 0;
      return (await send('alice', 'get', `${pathOf(subjectId)}/${read}`)).text;
    };
    expect(await outcomesOf(() => asked(large))).toEqual({ answered: 1 });
    expect({ primary: gateway.sent, replica: gateway.sentToReplica }).toEqual({
      primary: ofPrimary,
      replica: ['snapshot_texts_copied'],
    });
    const path = `${pathOf(large)}/${read}`;
    expect(await asked(large)).toBe((await plain.withToken(await plain.issuer.mint('alice'), 'get', path)).text);
    await asked(await written(2));
    expect(gateway.sentToReplica).toEqual([]);

    const lacking = await written(2, { padding: 'x'.repeat(20_000) });
    expect(await outcomesOf(() => asked(lacking))).toEqual({ behind: 1 });
    expect(gateway.sent.filter((name) => name === statement)).toHaveLength(2);
    await replica.query(`UPDATE snapshots SET envelope_hash = sha256('x')`);
    expect(await outcomesOf(() => asked(large))).toEqual({ differs: 1 });
    await copyAll();
  });

  it('is not used for a few headers, which the primary reads as fast', async () => {
    gateway.sentToReplica.length = 0;
    await send('alice', 'get', `${pathOf(subject)}/history?limit=5`);
    expect(gateway.sentToReplica).toEqual([]);
  });

  it('is read by the global form too, with access decided by the primary', async () => {
    const path = `${pathOf(subject, '/v1')}/export.ndjson`;
    await outcomesOf(() => send('alice', 'get', path));
    expect(gateway.sentToReplica).toEqual(['snapshot_lineage_copied_asc']);
    await send('bob', 'get', path, undefined, 404);
  });

  it('is paged without gaps or repetitions', async () => {
    const whole = await send('alice', 'get', `${pathOf(subject)}/history?limit=60&order=asc`);
    const versions: number[] = [];
    for (let cursor = ''; ;) {
      const { body } = await send('alice', 'get', `${pathOf(subject)}/history?limit=25&order=asc${cursor}`);
      versions.push(...body.items.map((item: { snapshot_version: number }) => item.snapshot_version));
      if (body.next_cursor === null) break;
      cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
    }
    expect(versions).toEqual(whole.body.items.map((item: { snapshot_version: number }) => item.snapshot_version));
    expect(versions).toHaveLength(60);
  });
});

describe('data that the replica lacks or that differs', () => {
  const exported = async (subject: string): Promise<string> =>
    (await send('alice', 'get', `${pathOf(subject)}/export.ndjson`)).text;

  it('a version that only the primary has is returned', async () => {
    const subject = `subject-${randomUUID()}`;
    const named = { subject_type: TYPE, subject_id: subject };
    for (const version of [1, 2]) {
      const body = envelope({ subject: named, snapshot_version: version });
      await send('alice', 'post', `${ACME}/entity-states`, body, 201);
      if (version === 1) await copyAll();
    }
    expect(
      await outcomesOf(async () => expect((await exported(subject)).match(/"snapshot_version":2/g)).not.toBeNull()),
    ).toEqual({
      behind: 1,
    });
  });

  it('erased content is hidden immediately, even if the replica still has it', async () => {
    const subject = `subject-${randomUUID()}`;
    const named = { subject_type: TYPE, subject_id: subject };
    for (const version of [1, 2, 3]) {
      const attributes = { legal: { legal_name: `Zacharias Geheim ${version}`, padding: 'x'.repeat(20_000) } };
      const body = envelope({ subject: named, snapshot_version: version, attributes });
      await send('alice', 'post', `${ACME}/entity-states`, body, 201);
    }
    await publishLog(gateway.databaseUrl);
    await copyAll();
    expect(await exported(subject)).toContain('Geheim 2');
    const erasure = { versions: [2], reason: 'a letter' };
    const { body } = await send('alice', 'post', `${pathOf(subject)}/erasure`, erasure, 201);
    await send('admin', 'post', `${pathOf(subject)}/erasures/${body.erasure_id}/confirm`);
    for (const read of ['export.ndjson', 'export', 'history?view=full', 'history?view=full&order=asc']) {
      const used = await outcomesOf(async () => {
        const { text } = await send('alice', 'get', `${pathOf(subject)}/${read}`);
        expect([text.includes('Geheim 1'), text.includes('Geheim 2'), text.includes(body.erasure_id)]).toEqual([
          true,
          false,
          true,
        ]);
      });
      expect(used).toEqual({ answered: 1 });
    }
    for (const read of ['provenance?version=2', 'diff?from_version=1&to_version=2']) {
      await send('alice', 'get', `${pathOf(subject)}/${read}`, undefined, 410);
    }
    const lagging = await exported(subject);
    await copyAll();
    expect(await exported(subject)).toBe(lagging);
  });

  it('rows that differ from the primary’s history are not returned', async () => {
    const subject = await lineage(3);
    await copyAll();
    // The state of a standby that was promoted, wrote, and follows no primary.
    const forged = `'{"forged":true}'`;
    await replica.query(
      `UPDATE snapshots SET envelope = ${forged}, envelope_hash = sha256(convert_to(${forged}, 'UTF8'))
        WHERE snapshot_version = 2 AND subject_key = (SELECT subject_key FROM subjects WHERE subject_id = $1)`,
      [subject],
    );
    const used = await outcomesOf(async () => expect(await exported(subject)).not.toContain('forged'));
    expect(used).toEqual({ differs: 1 });
  });

  it('rows that row-level security hides on the replica come from the primary', async () => {
    const subject = await lineage(2);
    await copyAll();
    await replica.query('DROP POLICY snapshots_read ON snapshots');
    try {
      expect(await outcomesOf(() => exported(subject))).toEqual({ behind: 1 });
    } finally {
      await replica.query('CREATE POLICY snapshots_read ON snapshots FOR SELECT TO iss_app, iss_gateway USING (true)');
    }
    expect(await outcomesOf(() => exported(subject))).toEqual({ answered: 1 });
  });
});

describe('access to data on the replica', () => {
  it('is decided by the primary for each batch, so a revocation ends a running export', async () => {
    const subject = await lineage(40, 1_000_000);
    await copyAll(subject);
    const grantId = await grant(subject);
    const response = await fetch(`${gateway.url}${pathOf(subject, '/v1/tenants/beta')}/export`, {
      headers: { Authorization: `Bearer ${await gateway.issuer.mint('bob')}` },
    });
    expect(response.status).toBe(200);
    await send('alice', 'post', `${ACME}/grants/${grantId}/revoke`);
    await expect(response.text()).rejects.toThrow('terminated');
    await send('bob', 'get', `${pathOf(subject, '/v1/tenants/beta')}/export`, undefined, 403);
  });
});

describe('a replica that does not answer', () => {
  const readiness = async () => (await send('alice', 'get', '/v1/ops/readiness')).body;

  it('fails no reads, and degrades only its readiness check', async () => {
    const subject = await lineage(3);
    await copyAll(subject);
    // A busy machine may already have missed a probe.
    await waitFor(async () => (await readiness()).checks.replica.status === 'ok');
    way.hold();
    try {
      const used = await allOutcomesOf(() =>
        Promise.all(Array.from({ length: 20 }, () => send('alice', 'get', `${pathOf(subject)}/export`))),
      );
      expect((used['failed'] ?? 0) + (used['away'] ?? 0)).toBe(20);
      expect(used['failed']).toBeGreaterThan(0);
      await waitFor(async () => (await readiness()).checks.replica.status === 'degraded');
      expect((await readiness()).status).toBe('ready');
      expect(await allOutcomesOf(() => send('alice', 'get', `${pathOf(subject)}/export`))).toEqual({ away: 1 });
    } finally {
      way.release();
    }
    await waitFor(async () => (await readiness()).checks.replica.status === 'ok');
    expect(await outcomesOf(() => send('alice', 'get', `${pathOf(subject)}/export`))).toEqual({ answered: 1 });
  });
});
