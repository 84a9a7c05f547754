import createClient from 'openapi-fetch';
import type { paths } from './generated/openapi-typescript';
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

const clientOf = (token: string) =>
  createClient<paths>({ baseUrl: BASE_URL, headers: { Authorization: `Bearer ${token}` } });
const owner = clientOf(OWNER_TOKEN);
const grantee = clientOf(GRANTEE_TOKEN);

/** Returns the body of a success. Throws the error response of the service otherwise. */
function done<Data, Failure>({ data, error }: { data?: Data; error?: Failure }): NonNullable<Data> {
  if (data === undefined || data === null) throw new Error(JSON.stringify(error));
  return data;
}

async function main(): Promise<void> {
  const path = { tenant_id: tenant, ...subject };
  const inTenant = { params: { path: { tenant_id: tenant } } };
  const ofSubject = '/v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}';

  done(await owner.POST('/v1/tenants', { body: { tenant_id: tenant, name: 'Northwind' } }));
  const subscription = done(await owner.POST('/v1/webhook-subscriptions', { body: subscriptionBody }));
  done(await owner.POST('/v1/tenants/{tenant_id}/entity-states', { ...inTenant, body: firstEnvelope }));
  const { update_id } = done(await owner.POST(`${ofSubject}/updates`, { params: { path }, body: proposalBody }));
  done(await owner.POST(`${ofSubject}/updates/{update_id}/apply`, { params: { path: { ...path, update_id } } }));
  const query = { verify: 'chain', depth: 'all' } as const;
  const latest = done(await owner.GET(`${ofSubject}/snapshots/latest`, { params: { path, query } }));
  const scopes = ['read_latest' as const, 'read_diff' as const];
  const body = { grantee_tenant_id: GRANTEE_TENANT, ...subject, scopes };
  done(await owner.POST('/v1/tenants/{tenant_id}/grants', { ...inTenant, body }));
  const shared = { ...path, tenant_id: GRANTEE_TENANT };
  const read = done(await grantee.GET(`${ofSubject}/snapshots/latest`, { params: { path: shared } }));
  const versions = { from_version: 1, to_version: 2 };
  const diff = done(await grantee.GET(`${ofSubject}/diff`, { params: { path: shared, query: versions } }));

  const { hash, chain } = latest.verification ?? {};
  const isVerified = hash?.valid && chain?.valid;
  console.log(
    JSON.stringify({ isVerified, version: read.snapshot_version, ops: diff.ops, secret: subscription.secret }),
  );
}

main().catch((reason: unknown) => {
  console.error(reason);
  process.exitCode = 1;
});
