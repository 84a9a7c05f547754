import { randomUUID } from 'node:crypto';
import { GrantStore, SnapshotWriteStore } from '@iss/persistence';
import { Client } from 'pg';
import { addTenant, snapshot } from '../../../libs/persistence/src/testing/world';
import { type Receiver, startReceiver } from '../../../tools/testing/receiver';
import { waitFor } from '../../../tools/testing/wait-for';
import { startWorkers, type TestWorkers } from './worker';

const TYPES = ['grant.changed', 'grant.created', 'grant.revoked', 'shared.snapshot.created'];

let workers: TestWorkers;
let receiver: Receiver;
let superuser: Client;
beforeEach(async () => {
  receiver = await startReceiver();
  workers = await startWorkers();
  superuser = new Client({ connectionString: workers.env['DATABASE_URL'] });
  await superuser.connect();
});
afterEach(async () => {
  await superuser?.end();
  await workers?.close();
  await receiver?.stop();
});

/** Shares a subject with `bank`, writes a version of it, and changes and revokes the grant. */
async function share(): Promise<void> {
  const { sql } = workers.database;
  const [grants, writes] = [new GrantStore(sql), new SnapshotWriteStore(sql)];
  const actor = { tenantId: 'owner', principalId: 'tenant_owner', requestId: 'r' };
  const first = snapshot({ tenantId: 'owner' });
  const { subjectType, subjectId, envelopeHash: prevHash } = first;
  await writes.create(first);
  const grantId = randomUUID();
  const toBank = { grantId, granteeTenantId: 'bank', paths: null, startsAt: null, expiresAt: null, purpose: null };
  await grants.create(actor, [{ ...toBank, subjectType, subjectId, scopes: ['read_latest'] }]);
  await writes.append(snapshot({ tenantId: 'owner', subjectId, prevHash, snapshotVersion: 2 }));
  await waitFor(() => receiver.requests.length >= 2, {
    what: 'the version, before the grant ends',
  });
  const change = { scopes: ['read_lineage'], expiresAt: undefined, purpose: undefined, reason: null } as const;
  await grants.change(actor, grantId, change);
  await grants.revoke(actor, grantId);
}

it.each([
  ['its backfill is not finished', 'INSERT INTO log_backfill DEFAULT VALUES'],
  ['another process locks its tree', 'BEGIN; SELECT FROM log_tree FOR UPDATE'],
])('delivers events of grants and shared subjects while the log is blocked because %s', async (_, hold) => {
  for (const tenant of ['owner', 'bank']) await addTenant(workers, tenant);
  const { subscriptionId } = await workers.subscribe(receiver.url, 'bank');
  await superuser.query('UPDATE webhook_subscriptions SET event_types = $2 WHERE subscription_id = $1', [
    subscriptionId,
    TYPES,
  ]);
  await superuser.query(hold);
  await workers.start({ LOG_CHECKPOINT_INTERVAL_MS: '50' });
  await share();
  const requests = await receiver.waitForRequests(TYPES.length);
  const types = requests.map(({ body }) => /"type":"([^"]+)"/.exec(body.toString())?.[1]);
  expect(types.sort()).toEqual(TYPES);
  expect((await superuser.query('SELECT size FROM log_tree')).rows).toEqual([{ size: '0' }]);
});

it('delivers to a subscription with paths only visible changes at these paths', async () => {
  const [NAME, HIDDEN] = ['/attributes/legal/legal_name', '/attributes/accounts'] as const;
  for (const tenant of ['owner', 'bank']) await addTenant(workers, tenant);
  for (const [hook, paths] of [
    ['all', null],
    ['name', [NAME]],
    ['hidden', [HIDDEN]],
  ] as const) {
    const { subscriptionId } = await workers.subscribe(`${receiver.url}/${hook}`, 'bank');
    await superuser.query(
      `UPDATE webhook_subscriptions SET event_types = '{shared.snapshot.created}', paths = $2 WHERE subscription_id = $1`,
      [subscriptionId, paths],
    );
  }
  await workers.start();
  const { sql } = workers.database;
  const [grants, writes] = [new GrantStore(sql), new SnapshotWriteStore(sql)];
  const first = snapshot({ tenantId: 'owner' });
  const { subjectType, subjectId } = first;
  await writes.create(first);
  const grant = { grantId: randomUUID(), granteeTenantId: 'bank', startsAt: null, expiresAt: null, purpose: null };
  await grants.create({ tenantId: 'owner', principalId: 'tenant_owner', requestId: 'r' }, [
    { ...grant, subjectType, subjectId, scopes: ['read_latest'], paths: [NAME] },
  ]);
  let before = first;
  for (const changed of [[HIDDEN], [HIDDEN, NAME]]) {
    const { envelopeHash: prevHash, snapshotVersion } = before;
    const known = { changedBy: '""', origins: Buffer.from([1, 2]), changedPaths: JSON.stringify(changed) };
    before = snapshot({ tenantId: 'owner', subjectId, prevHash, snapshotVersion: snapshotVersion + 1, ...known });
    await writes.append(before);
  }
  const requests = await receiver.waitForRequests(3);
  const told = requests.map(({ path, body }) => {
    const { data } = JSON.parse(body.toString());
    return `${path} ${data.snapshot_version} ${data.changed_paths}`;
  });
  expect(told.sort()).toEqual(['/all 2 ', `/all 3 ${NAME}`, `/name 3 ${NAME}`]);
  const { rows } = await superuser.query('SELECT count(*)::int AS made FROM deliveries');
  expect(rows).toEqual([{ made: 3 }]);
});
