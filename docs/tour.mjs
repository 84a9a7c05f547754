import { readFileSync } from 'node:fs';
import { compare, IdentityState, verificationOf } from '@identity-state/client';

const { BASE_URL, TOKEN, LOG_POLICY } = process.env;
const iss = new IdentityState({ baseUrl: BASE_URL, token: TOKEN, trust: { policy: readFileSync(LOG_POLICY, 'utf8') } });

// Create a tenant and the first version of a subject.
const tenant = await iss.createTenant({ tenant_id: `client-${Date.now()}`, name: 'Tour with the client' });
const company = tenant.organization(`${tenant.tenantId}-ltd`);
const today = new Date().toISOString();
await tenant.write({
  envelope_version: 'entity_state_envelope_v1',
  snapshot_id: crypto.randomUUID(),
  snapshot_version: 1,
  generated_at: '2026-01-15T09:30:00Z',
  subject: { subject_type: 'organization', subject_id: company.subjectId },
  attributes: { legal: { legal_name: 'Tour Ltd' }, jurisdiction: { country: 'IE' } },
  evidence: [{ evidence_id: 'ev-1', evidence_type: 'registry_extract', source: 'register', captured_at: today }],
  audit: { created_by: 'onboarding', created_at: today, source: 'tour' },
});

// Change a draft. The client proposes and applies the patch with its evidence.
const resolution = { evidence_id: 'ev-2', evidence_type: 'resolution', source: 'shareholders', captured_at: today };
const renamed = await company.change(
  (draft) => {
    draft.attributes.legal.legal_name = 'Tour Holding Ltd';
  },
  { evidence: [resolution] },
);

// The client throws if a check fails.
const first = await company.version(1);
const { logIndex, checkpoint } = verificationOf(renamed).log;
console.log(
  `version ${renamed.snapshot_version} is entry ${logIndex} of ${checkpoint.size}, seen by ${checkpoint.cosignedBy}`,
);
console.log(compare(first.envelope, renamed.envelope));
for await (const value of company.provenance({ path: '/attributes/legal' })) {
  console.log(value.path, 'since version', value.since_version, value.evidence_status);
}

// Share the subject, and follow the change feed.
await company.share({ grantee_tenant_id: 'beta', scopes: ['read_latest', 'read_diff'] });
for await (const change of tenant.changes({ follow: true })) {
  console.log(change.log_index, change.type);
  if (change.type === 'grant.created') break;
}
