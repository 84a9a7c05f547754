import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONFIRMATION_SETTINGS, MAX_PATHS, MAX_GRANT_PATHS_BYTES, SCOPES } from '@iss/domain';
import type { GrantRecord, SnapshotRecord } from '@iss/persistence';
import {
  AccessibleSubject,
  Attestation,
  ISSUING_KEY,
  IssuingKey,
  BlockedTenant,
  ChainItem,
  Grant,
  Invitation,
  OwnerChangeView,
  Ownership,
  Principal,
  Subject,
  TenantItem,
} from '@iss/contract';
import { repositoryRoot } from '../../../tools/root';

const MIB = 1024 * 1024;
/** The maximum number of items and bytes on a page of a list whose items can be large. */
const PAGE_BYTES = 8 * MIB;

interface Operation {
  operationId?: string;
  parameters?: { name: string; in: string; schema: { maximum?: number } }[];
}
const { paths }: { paths: Record<string, Record<string, Operation>> } = JSON.parse(
  readFileSync(join(repositoryRoot, 'openapi.json'), 'utf8'),
);
/** The maximum number of items on a page, by operation id. */
const limits = new Map<string, number>();
for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
  const parameter = (name: string) => operation.parameters?.find((one) => one.in === 'query' && one.name === name);
  if (parameter('cursor') !== undefined)
    limits.set(operation.operationId ?? '', parameter('limit')?.schema.maximum ?? 0);
}

// A subject has one owner.
limits.set('listOwners', 1);

/** The text consists of characters of four bytes each, because no JSON escape takes more. */
const wide = (characters: number): string => '𝒳'.repeat(characters);
const UUID = '00000000-0000-7000-8000-000000000000';
const HASH = 'f'.repeat(64);
const TENANT = 't'.repeat(128);
const PRINCIPAL = `oidc:${wide(255)}#${wide(255)}`;
const SUBJECT = { subjectType: 'organization', subjectId: wide(512) };
const NOW = new Date();
const HEADER: SnapshotRecord = {
  ...SUBJECT,
  snapshotId: UUID,
  snapshotVersion: 2_147_483_647,
  generatedAt: `2026-01-15T09:30:00.${'9'.repeat(30)}+00:00`,
  changeKind: 'correction',
  createdAt: NOW,
  envelopeHash: HASH,
  prevHash: HASH,
  writtenBy: PRINCIPAL,
  writeRequestId: 'r'.repeat(128),
  envelope: null,
  erasure: { erasureId: UUID, erasedAt: NOW },
};
/** The maximum size of the paths of a grant. */
const PATHS = Array.from(
  { length: MAX_PATHS },
  () => `/attributes/${'x'.repeat(MAX_GRANT_PATHS_BYTES / MAX_PATHS - 16)}`,
);
const GRANT: GrantRecord = {
  ...SUBJECT,
  grantId: UUID,
  grantorTenantId: TENANT,
  granteeTenantId: TENANT,
  scopes: SCOPES,
  paths: PATHS,
  startsAt: NOW,
  expiresAt: NOW,
  createdAt: NOW,
  revokedAt: NOW,
  status: 'revoked',
  grantedBy: PRINCIPAL,
  purpose: wide(500),
  acceptedAt: NOW,
};

const OWNER = { tenantId: TENANT, createdAt: NOW };
const WORST: Record<string, object> = {
  listTenants: TenantItem.of({
    ...OWNER,
    name: wide(256),
    slug: TENANT,
    chainEnforced: true,
    evidencePolicy: 'resolved',
    erasureConfirmation: 'required',
    grantConfirmation: 'required',
    pendingChanges: CONFIRMATION_SETTINGS.map((setting) => ({
      setting,
      requestedBy: PRINCIPAL,
      requestedAt: NOW.toISOString(),
      effectiveAt: NOW.toISOString(),
    })),
    role: 'tenant_proposer',
    tenancyRole: 'account_admin',
  }),
  listPrincipals: Principal.of({
    ...OWNER,
    principalId: PRINCIPAL,
    tenancyRole: 'account_admin',
    role: 'tenant_proposer',
    principalType: 'service_account',
    allowCounterpartyAccess: false,
    status: 'removed',
  }),
  listInvitations: Invitation.of({
    tenantId: TENANT,
    tenantName: wide(256),
    role: 'tenant_proposer',
    tenancyRole: 'account_admin',
    invitedBy: PRINCIPAL,
    invitedAt: NOW,
  }),
  listBlockedTenants: BlockedTenant.of({ tenantId: TENANT, blockedAt: NOW }),
  listSubjects: Subject.of({ ...SUBJECT, createdAt: NOW, latest: HEADER }),
  listOwners: Ownership.of({ ...SUBJECT, createdAt: NOW, ownerTenantId: TENANT }),
  listGrants: Grant.of(GRANT),
  listAccessibleSubjects: AccessibleSubject.of({ ...GRANT, latest: HEADER }),
  getChainProof: [ChainItem.of({ ...HEADER, chainValid: false }), ChainItem.of({ ...HEADER, chainValid: false })],
  getChainProofAcrossTenants: [
    ChainItem.of({ ...HEADER, chainValid: false }),
    ChainItem.of({ ...HEADER, chainValid: false }),
  ],
  listAttestations: Attestation.of({
    attestationId: UUID,
    tenantId: TENANT,
    issuer: `https://${'i'.repeat(500)}`,
    vct: wide(512),
    digest: HASH,
    hasKeyBinding: false,
    addedBy: PRINCIPAL,
    verifiedAt: NOW,
    expiresAt: NOW,
    status: 'suspended',
    statusAt: NOW,
    statusList: { uri: 'u'.repeat(1_024), idx: Number.MAX_SAFE_INTEGER },
    statusProblem: 'p'.repeat(500),
    evidence: {
      attestationId: UUID,
      evidenceType: 'attestation',
      source: `https://${'i'.repeat(500)}`,
      capturedAt: NOW,
      hash: { alg: 'sha-256', digest: HASH },
    },
  }),
  listIssuingKeys: IssuingKey.of({
    ...ISSUING_KEY,
    tenantId: TENANT,
    issuer: `https://${'i'.repeat(500)}`,
    createdBy: PRINCIPAL,
    replacedAt: NOW,
    retiredAt: NOW,
  }),
  listOwnerHistory: OwnerChangeView.of({
    principalId: PRINCIPAL,
    fromPrincipalId: PRINCIPAL,
    changedAt: NOW,
    logIndex: Number.MAX_SAFE_INTEGER,
  }),
};

/** These pages end by bytes (`fitting` and `snapshot-list.store.ts`), because one item can be as large as a request. */
const BY_BYTES = [
  'listUpdates',
  'listSubjectUpdates',
  'listRefreshRequests',
  'listTenantRefreshRequests',
  'listSnapshots',
  'listHistory',
  'listHistoryAcrossTenants',
  'listSnapshotsAcrossTenants',
  'getProvenance',
  'getProvenanceAcrossTenants',
  'listTransferOffers',
  'listErasures',
  'listTenantErasures',
  'listAudit',
  'listDeliveries',
  'listPendingGrants',
  'listWebhookSubscriptions',
  'listSubjectGrants',
  'listAccessHistory',
  'listSubjectDisclosures',
  'listDisclosures',
  'listCredentials',
  'listTrustedIssuers',
];

it('every list has its largest item in WORST, or ends its pages by bytes', () => {
  expect([...Object.keys(WORST), ...BY_BYTES].sort()).toEqual([...limits.keys()].sort());
});

/** The size of each worst page in MiB, so that a change is noticed. */
const SIZES: Readonly<Record<string, string>> = {
  listTenants: '5.7',
  listPrincipals: '2.3',
  listInvitations: '3.2',
  listBlockedTenants: '0.2',
  listSubjects: '6.6',
  listOwners: '0.0',
  listGrants: '2.5',
  listAccessibleSubjects: '6.0',
  getChainProof: '0.2',
  getChainProofAcrossTenants: '0.2',
  listAttestations: '7.1',
  listIssuingKeys: '2.9',
  listOwnerHistory: '4.0',
};

it.each(Object.entries(WORST))(
  'the largest page of %s has at most 8 MiB and its expected size',
  (operationId, item) => {
    const bytes = Buffer.byteLength(JSON.stringify(item)) * (limits.get(operationId) ?? Infinity);
    expect(bytes).toBeLessThanOrEqual(PAGE_BYTES);
    expect((bytes / MIB).toFixed(1)).toBe(SIZES[operationId]);
  },
);
