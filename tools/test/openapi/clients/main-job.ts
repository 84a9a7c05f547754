import { randomUUID } from 'node:crypto';

// Shared by the programs in this folder: the service, two callers, and the data that they write.

export const BASE_URL = required('BASE_URL');
export const OWNER_TOKEN = required('OWNER_TOKEN');
export const GRANTEE_TOKEN = required('GRANTEE_TOKEN');
/** The grantee's tenant; its owner has set `allow_counterparty_access`. */
export const GRANTEE_TENANT = required('GRANTEE_TENANT');

export const tenant = `tenant-${randomUUID()}`;
export const subject = { subject_type: 'organization' as const, subject_id: `northwind-${randomUUID()}` };

export const firstEnvelope = {
  envelope_version: 'entity_state_envelope_v1' as const,
  snapshot_id: randomUUID(),
  snapshot_version: 1,
  generated_at: new Date().toISOString(),
  subject,
  attributes: { legal: { legal_name: 'Northwind Ltd' }, jurisdiction: { country: 'IE' } },
  evidence: [],
  audit: { created_by: 'onboarding', created_at: new Date().toISOString(), source: 'client' },
};

export const subscriptionBody = {
  tenant_id: tenant,
  target_url: 'https://hooks.example.com/iss',
  event_types: ['refresh_request.created' as const],
};

export const proposalBody = {
  subject_id: subject.subject_id,
  base_snapshot_version: 1,
  patch_ops: [{ op: 'replace' as const, path: '/attributes/legal/legal_name', value: 'Northwind Holding Ltd' }],
};

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
}
