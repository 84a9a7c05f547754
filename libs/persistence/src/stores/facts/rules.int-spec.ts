import { randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as domain from '@iss/domain';
import { type Role, ROLES, RULES } from '@iss/domain';
import * as pg from 'pg';
import * as typeorm from 'typeorm';
import * as persistence from '../../index';
import { addTenant, openWorld, snapshot, TRACE, type World } from '../../testing/world';
import type { SnapshotToAppend } from '../snapshots/snapshot-write.store';

type Stores = typeof persistence;
type RuleName = keyof typeof RULES;

/** Loads the stores with one rule changed to demand an admin. */
function storesWithStrict(rule: RuleName): Stores {
  let stores: Stores | undefined;
  jest.isolateModules(() => {
    const strict = { ...RULES, [rule]: { ...RULES[rule], role: 'tenant_admin' } };
    jest.doMock('@iss/domain', () => ({ ...domain, RULES: strict }));
    // Only the stores are loaded again.
    jest.doMock('pg', () => pg);
    jest.doMock('typeorm', () => typeorm);
    stores = jest.requireActual<Stores>('../../index');
  });
  for (const name of ['@iss/domain', 'pg', 'typeorm']) jest.dontMock(name);
  if (stores === undefined) throw new Error('no stores');
  return stores;
}

// A connection has one text per statement name, so stores with other rules need a database of their own.
let world: World;

beforeEach(async () => {
  world = await openWorld();
  await addTenant(world, 'acme');
});

afterEach(() => world.close());

interface Attempt {
  stores: Stores;
  principalId: Role;
  first: SnapshotToAppend;
}
const next = ({ principalId, first }: Attempt, updateId: string | null): SnapshotToAppend => {
  const { subjectId, envelopeHash: prevHash } = first;
  return snapshot({ principalId, subjectId, snapshotVersion: 2, prevHash, updateId });
};
const propose = ({ stores, principalId, first }: Attempt, updateId = randomUUID()) =>
  new stores.UpdateStore(world.database.sql).propose({
    updateId,
    tenantId: 'acme',
    principalId,
    subjectType: first.subjectType,
    subjectId: first.subjectId,
    baseSnapshotId: first.snapshotId,
    baseSnapshotVersion: 1,
    patchOps: '[]',
    changeKind: 'change' as const,
    requestId: null,
    initiatedBy: null,
    evidencePolicy: 'open',
    trace: TRACE,
  });

const ATTEMPTS: [RuleName, (attempt: Attempt) => Promise<{ kind: string }>][] = [
  [
    'submitFirstState',
    ({ stores, principalId }) => new stores.SnapshotWriteStore(world.database.sql).create(snapshot({ principalId })),
  ],
  [
    'submitLaterState',
    (attempt) => new attempt.stores.SnapshotWriteStore(world.database.sql).append(next(attempt, null)),
  ],
  [
    'applyUpdate',
    async (attempt) => {
      const updateId = randomUUID();
      await propose({ ...attempt, principalId: 'tenant_owner' }, updateId);
      return new attempt.stores.SnapshotWriteStore(world.database.sql).append(next(attempt, updateId));
    },
  ],
  ['proposeUpdate', (attempt) => propose(attempt)],
  [
    'requestRefresh',
    ({ stores, principalId, first: { subjectType, subjectId } }) =>
      new stores.RefreshRequestStore(world.database.sql).create(
        {
          refreshRequestId: randomUUID(),
          requestingTenantId: 'acme',
          principalId,
          subjectType,
          subjectId,
          reasonCode: null,
          message: null,
          requestedPaths: [],
          expiresAt: null,
          dueAt: null,
          every: null,
        },
        { requestId: 'r', traceparent: 't' },
      ),
  ],
];

// Nothing here calls decideAccess: the statement must follow a stricter rule by itself.
it.each(ATTEMPTS)('the statement for %s refuses an editor if the rule demands an admin', async (rule, make) => {
  const stores = storesWithStrict(rule);
  const first = snapshot({ principalId: 'tenant_owner' });
  await new stores.SnapshotWriteStore(world.database.sql).create(first);
  const attempt = { stores, first };
  await expect(make({ ...attempt, principalId: 'tenant_editor' })).resolves.toMatchObject({ kind: 'refused' });
  const { kind } = await make({ ...attempt, principalId: 'tenant_admin' });
  expect(kind).toMatch(/^(written|proposed)$/);
});

it('the statements allow an editor under the real rules', async () => {
  const stores = persistence;
  for (const [, make] of ATTEMPTS) {
    const first = snapshot({ principalId: 'tenant_owner' });
    await new stores.SnapshotWriteStore(world.database.sql).create(first);
    const { kind } = await make({ stores, first, principalId: 'tenant_editor' });
    expect(kind).toMatch(/^(written|proposed)$/);
  }
});

it('the stores and statements name no role except the owner and the defaults', () => {
  const stores = resolve(__dirname, '..');
  const files = globSync('**/*.{ts,sql}', { cwd: stores }).filter((file) => !file.endsWith('-spec.ts'));
  const naming = files.flatMap((file) =>
    ROLES.filter((role) => readFileSync(join(stores, file), 'utf8').includes(`'${role}'`)).map(
      (role) => `${file}: ${role}`,
    ),
  );
  expect(naming.sort()).toEqual([
    'facts/facts.sql: tenant_reader',
    'tenancy/members.sql: tenant_owner',
    'tenancy/tenancy.sql: tenant_editor',
    'tenancy/tenancy.sql: tenant_owner',
  ]);
});
