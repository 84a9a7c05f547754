import type { ZodType } from 'zod';
import * as api from './generated/orval/fetch';
import * as schemas from './generated/orval/zod';
import {
  firstEnvelope,
  GRANTEE_TENANT,
  GRANTEE_TOKEN,
  OWNER_TOKEN,
  proposalBody,
  subject,
  subscriptionBody,
  tenant,
} from './main-job';

const as = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
const owner = as(OWNER_TOKEN);
const grantee = as(GRANTEE_TOKEN);

/** Returns the body of a success, validated against its schema. Throws the error response of the service otherwise. */
function done<Data>(schema: ZodType<Data>, { status, data }: { status: number; data: unknown }): Data {
  if (status >= 300) throw new Error(JSON.stringify(data));
  return schema.parse(data);
}

async function main(): Promise<void> {
  const { subject_type, subject_id } = subject;
  const of = [tenant, subject_type, subject_id] as const;
  const shared = [GRANTEE_TENANT, subject_type, subject_id] as const;

  const newTenant = schemas.CreateTenantBody.parse({ tenant_id: tenant, name: 'Northwind' });
  done(schemas.CreateTenantResponse, await api.createTenant(newTenant, owner));
  const newSubscription = schemas.CreateWebhookSubscriptionBody.parse(subscriptionBody);
  const created = await api.createWebhookSubscription(newSubscription, owner);
  const { secret } = done(schemas.CreateWebhookSubscriptionResponse, created);
  const envelope = schemas.CreateEntityStateBody.parse(firstEnvelope);
  done(schemas.CreateEntityStateResponse, await api.createEntityState(tenant, envelope, owner));
  const proposal = schemas.ProposeSubjectUpdateBody.parse(proposalBody);
  const proposed = await api.proposeSubjectUpdate(...of, proposal, owner);
  const { update_id } = done(schemas.ProposeSubjectUpdateResponse, proposed);
  const applied = await api.applySubjectUpdate(...of, update_id, owner);
  done(schemas.ApplySubjectUpdateResponse, applied);
  const verified = await api.getLatestSnapshot(...of, { verify: 'chain', depth: 'all' }, owner);
  const { verification } = done(schemas.GetLatestSnapshotResponse, verified);
  const scopes = ['read_latest', 'read_diff'];
  const grant = schemas.CreateGrantBody.parse({ grantee_tenant_id: GRANTEE_TENANT, ...subject, scopes });
  done(schemas.CreateGrantResponse, await api.createGrant(tenant, grant, owner));
  const read = done(schemas.GetLatestSnapshotResponse, await api.getLatestSnapshot(...shared, {}, grantee));
  const versions = { from_version: 1, to_version: 2 };
  const { ops } = done(schemas.DiffVersionsResponse, await api.diffVersions(...shared, versions, grantee));

  const isVerified = verification?.hash.valid && verification.chain.valid;
  console.log(JSON.stringify({ isVerified, version: read.snapshot_version, ops, secret }));
}

main().catch((reason: unknown) => {
  console.error(reason);
  process.exitCode = 1;
});
