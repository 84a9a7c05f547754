import { randomUUID } from 'node:crypto';
import type { api, IdentityState } from '@identity-state/client';
import type { Example } from './examples';

const SECRET: Example['blur'] = [[/whsec_\S+/, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=']];
const LATENCY: Example['blur'] = [[/\d+ ms/g, '12 ms']];
/**
 * The seed of the names and keys of a log and of a witness. Places depend on the preceding entries of audit records.
 */
export const LOG_PLACE: NonNullable<Example['blur']> = [
  [/(localhost\/\S+\/)[0-9a-f]{8}/g, '$11c55db5a'],
  [/(localhost\/\S+\+)[0-9a-f]{8}/g, '$156058f7e'],
  [/root \S+=/, 'root imfrYxR1r8xf3Wd2Ckhn5OoGqik5EsirRqsTv9+U0yk='],
  [/(First .*, entry )\d+/, '$17'],
  [/(Last .*, entry )\d+/, '$18'],
  [/\d+ entries/g, '9 entries'],
];

/** The lender reads the records of the agency, and gets its events. $INBOX is a receiver. */
export const READER_EXAMPLES: readonly Example[] = [
  {
    line: 'iss share harbour lender --scopes latest,lineage,diff --until 2099-01-01 --purpose "Annual review"',
    keep: { GRANT: /iss revoke (\S+)$/ },
  },
  { line: 'iss share harbour lender --scopes everything', exitCode: 2 },
  { line: 'iss grants harbour' },
  { line: 'iss grants --held --profile lender', first: useGrants },
  { line: 'iss grants --received --with agency --profile lender' },
  { line: 'iss who harbour' },
  { line: 'iss who harbour lender --profile lender' },
  { line: 'iss who harbour lender --at 2025-12-31', exitCode: 1 },
  {
    line: 'iss requests ask harbour --path /attributes/legal --reason annual_review --profile lender',
  },
  {
    line: 'iss requests ask harbour --message "Is it still so?" --profile lender',
    keep: { OTHERASK: /: (\S+)$/ },
  },
  {
    line: 'iss requests ask harbour --message "By mistake" --profile lender',
    keep: { MISTAKE: /: (\S+)$/ },
  },
  { line: 'iss requests cancel $MISTAKE --profile lender' },
  { line: 'iss requests', keep: { ASK: /([0-9a-f]{8}-\S+) .*annual_review$/m } },
  { line: 'iss requests harbour --overdue' },
  { line: 'iss requests fulfil $ASK', exitCode: 1 },
  { line: 'iss requests fulfil $ASK --version 2' },
  { line: 'iss requests decline $OTHERASK --reason "Nothing changed."' },
  { line: 'iss requests --outgoing --status all --profile lender' },
  {
    line: 'iss hooks create $INBOX --events identity.snapshot.created,grant.revoked',
    keep: { HOOK: /^(wsub_\S+) sends/ },
    blur: SECRET,
  },
  { line: 'iss hooks' },
  { line: 'iss hooks rotate $HOOK --grace 86400', blur: SECRET },
  { line: 'iss trigger $HOOK', blur: LATENCY },
  { line: 'iss deliveries $HOOK', keep: { DELIVERY: /^(\S+) {2}.*webhook\.test/m }, blur: LATENCY },
  { line: 'iss deliveries $HOOK $DELIVERY', blur: LATENCY },
  { line: 'iss redeliver $HOOK $DELIVERY' },
  { line: 'iss redeliver $HOOK --from 2026-01-01 --status skipped' },
  { line: 'iss hooks change $HOOK --events grant.revoked --disable' },
  { line: 'iss hooks end $HOOK' },
  { line: 'iss revoke $GRANT' },
  { line: 'iss grants harbour --all' },
  { line: 'iss who harbour lender', exitCode: 1 },
  { line: 'iss import archive.ndjson', exitCode: 1 },
  { of: 'export', line: 'iss export quarry --proofs > bundle.ndjson' },
  { of: 'export', line: 'iss verify bundle.ndjson --policy policy', blur: LOG_PLACE },
  {
    line: 'iss changes --type snapshot.created --path /attributes/legal/legal_name --limit 2',
    blur: [
      [/^ *\d+(?= .*@1 )/m, '     3'],
      [/^ *\d+(?= .*@2 )/m, '     4'],
    ],
  },
  { line: 'iss grants --offered', first: shareAll, keep: { OFFERED: /^([0-9a-f]{8}-\S+)/m } },
  { line: 'iss accept $OFFERED' },
  { line: 'iss invitations', first: inviteAgent },
  { line: 'iss join lender' },
  {
    line: 'iss pending --tenant lender',
    first: requestGrants,
    keep: { PENDING: /^([0-9a-f]{8}-\S+).*read_latest/m, MISTAKEN: /^([0-9a-f]{8}-\S+).*read_diff/m },
  },
  { line: 'iss pending confirm $PENDING --tenant lender' },
  { line: 'iss pending cancel $MISTAKEN --tenant lender' },
  { line: 'iss leave lender --block' },
  { line: 'iss invitations --blocked' },
  { line: 'iss unblock lender' },
];

/** The lender shares all of its records with the agency. */
async function shareAll(lender: IdentityState): Promise<void> {
  const scopes = ['read_latest' as const];
  await lender.tenant('lender').grants.create({ grantee_tenant_id: 'agency', subject_type: '*', scopes });
}

/** The lender requires a second human for grants on all subjects, and requests two grants. */
async function requestGrants(lender: IdentityState): Promise<void> {
  await lender.request('POST', '/v1/tenants', { body: { tenant_id: 'auditor', name: 'Auditor' } });
  await lender.request('PATCH', '/v1/tenants/lender', { body: { grant_confirmation: 'required' } });
  for (const scope of ['read_latest', 'read_diff'] as const) {
    await lender.tenant('lender').grants.create({ grantee_tenant_id: 'auditor', subject_type: '*', scopes: [scope] });
  }
}

/** The lender shares its records with the user who runs these lines. */
async function inviteAgent(lender: IdentityState): Promise<void> {
  const path = '/v1/tenants/lender';
  const { items } = await lender.request<api.PrincipalPage>('GET', `${path}/principals`);
  for (const { principal_id: id } of items) {
    const agent = id.replace(/#.*$/, '#grace');
    await lender.request('PUT', `${path}/members/${encodeURIComponent(agent)}`, { body: { role: 'tenant_admin' } });
  }
}

/** Its only principal may use the grants that it holds. */
async function useGrants(lender: IdentityState): Promise<void> {
  const path = '/v1/tenants/lender/principals';
  const { items } = await lender.request<api.PrincipalPage>('GET', path);
  for (const { principal_id: id } of items) {
    const body = { allow_counterparty_access: true };
    await lender.request('PUT', `${path}/${encodeURIComponent(id)}`, { body });
  }
}

/** A line of the archive that the agency imports. */
function quarry(version: number, legalName: string): string {
  return JSON.stringify({
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: `2f6c1a7e-5d0b-4a8e-9b53-6f1f1f0b000${version}`,
    snapshot_version: version,
    generated_at: `202${version}-03-01T09:00:00Z`,
    subject: { subject_type: 'organization', subject_id: 'quarry' },
    attributes: { legal: { legal_name: legalName } },
    evidence: [],
    audit: { created_by: 'takeover', created_at: '2026-01-31T12:00:00Z', source: 'archive' },
  });
}

/** A line of an archive: the first version of a subject, if its number were 1. */
export function firstVersion(subjectId: string, version: number): string {
  const line = { ...JSON.parse(quarry(version, subjectId)), snapshot_id: randomUUID() };
  return JSON.stringify({ ...line, subject: { subject_type: 'organization', subject_id: subjectId } });
}

/** The files that these lines name. */
export const READER_FILES: Readonly<Record<string, unknown>> = {
  'archive.ndjson': [
    quarry(1, 'Quarry Ltd'),
    quarry(2, 'Quarry plc'),
    quarry(4, 'Quarry Group plc'),
    'not JSON',
    '',
  ].join('\n'),
};
