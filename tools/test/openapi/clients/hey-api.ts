import { createClient } from './generated/hey-api/client';
import {
  applySubjectUpdate,
  createEntityState,
  createGrant,
  createTenant,
  createWebhookSubscription,
  diffVersions,
  getLatestSnapshot,
  proposeSubjectUpdate,
} from './generated/hey-api';
import {
  BASE_URL,
  firstEnvelope,
  GRANTEE_TENANT,
  GRANTEE_TOKEN,
  OWNER_TOKEN,
  proposalBody,
  subject,
  subscriptionBody,
  tenant,
} from './main-job';

const clientOf = (token: string) => createClient({ baseUrl: BASE_URL, auth: token });
const owner = { client: clientOf(OWNER_TOKEN), throwOnError: true } as const;
const grantee = { client: clientOf(GRANTEE_TOKEN), throwOnError: true } as const;

async function main(): Promise<void> {
  const path = { tenant_id: tenant, ...subject };
  const shared = { ...path, tenant_id: GRANTEE_TENANT };

  await createTenant({ ...owner, body: { tenant_id: tenant, name: 'Northwind' } });
  const subscription = await createWebhookSubscription({ ...owner, body: subscriptionBody });
  await createEntityState({ ...owner, path, body: firstEnvelope });
  const update = await proposeSubjectUpdate({ ...owner, path, body: proposalBody });
  await applySubjectUpdate({ ...owner, path: { ...path, update_id: update.data.update_id } });
  const latest = await getLatestSnapshot({ ...owner, path, query: { verify: 'chain', depth: 'all' } });
  await createGrant({
    ...owner,
    path,
    body: { grantee_tenant_id: GRANTEE_TENANT, ...subject, scopes: ['read_latest', 'read_diff'] },
  });
  const read = await getLatestSnapshot({ ...grantee, path: shared });
  const diff = await diffVersions({ ...grantee, path: shared, query: { from_version: 1, to_version: 2 } });

  const { hash, chain } = latest.data.verification ?? {};
  const isVerified = hash?.valid && chain?.valid;
  const { secret } = subscription.data;
  console.log(JSON.stringify({ isVerified, version: read.data.snapshot_version, ops: diff.data.ops, secret }));
}

main().catch((reason: unknown) => {
  console.error(reason);
  process.exitCode = 1;
});
