import { entryOf, keyOf } from './parties.ts';
import type { OWNERS } from './people.ts';

/** The subscriptions, grants, reads, proposals, requests, offers and erasures of the world, which `rest.ts` carries out. */

export type TenantId = keyof typeof OWNERS;
type Subject = readonly [type: 'organization' | 'individual' | 'entity', id: string];

const READ_ALL = ['read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff'] as const;
const DAY_SECONDS = 86_400;

interface Subscription {
  tenant: TenantId;
  /** A hook of the inbox. If its name begins with `fails-`, it answers 500. */
  hook: string;
  eventTypes: readonly string[];
  disabled?: true;
}

export const SUBSCRIPTIONS: readonly Subscription[] = [
  {
    tenant: 'beta',
    hook: 'beta',
    eventTypes: [
      'shared.snapshot.created',
      'grant.created',
      'grant.changed',
      'grant.revoked',
      'grant.expiring',
      'grant.expired',
      'refresh_request.fulfilled',
      'refresh_request.declined',
    ],
  },
  {
    tenant: 'acme',
    hook: 'fails-billing',
    eventTypes: ['update.proposed', 'update.applied', 'update.withdrawn', 'grant.revoked'],
  },
  { tenant: 'acme', hook: 'former-crm', eventTypes: ['identity.snapshot.created'], disabled: true },
  {
    tenant: 'gamma',
    hook: 'gamma',
    eventTypes: ['grant.created', 'refresh_request.created', 'refresh_request.declined'],
  },
];

interface Grant {
  from: TenantId;
  to: TenantId;
  subject: Subject | '*';
  scopes: readonly string[];
  /** The parts that the grant shows; everything without them. */
  paths?: readonly string[];
  purpose: string;
  /** Its duration; null for no end. */
  seconds: number | null;
  then?: 'revoked' | 'narrowed';
}

export const GRANTS: readonly Grant[] = [
  {
    from: 'acme',
    to: 'beta',
    subject: ['organization', 'northgate-components'],
    scopes: READ_ALL,
    purpose: 'Loan review',
    seconds: 90 * DAY_SECONDS,
  },
  {
    from: 'acme',
    to: 'beta',
    subject: ['organization', 'kestrel-analytics'],
    scopes: READ_ALL,
    purpose: 'Opening of an account',
    seconds: 3 * DAY_SECONDS,
  },
  {
    from: 'acme',
    to: 'beta',
    subject: ['organization', 'halden-verft'],
    scopes: ['read_latest', 'read_lineage'],
    purpose: 'Ship finance',
    seconds: 6 * DAY_SECONDS,
  },
  {
    from: 'acme',
    to: 'beta',
    subject: ['organization', 'meridian-holdings'],
    scopes: READ_ALL,
    purpose: 'Syndicated loan',
    seconds: null,
  },
  {
    from: 'acme',
    to: 'beta',
    subject: ['individual', 'p-1001'],
    scopes: READ_ALL,
    purpose: 'Guarantor',
    seconds: 365 * DAY_SECONDS,
    then: 'narrowed',
  },
  {
    from: 'acme',
    to: 'beta',
    subject: ['organization', 'bruma-textil'],
    scopes: ['read_latest'],
    purpose: 'Enquiry by telephone',
    seconds: 2,
  },
  {
    from: 'acme',
    to: 'beta',
    subject: ['organization', 'oberland-molkerei'],
    scopes: READ_ALL,
    purpose: 'Leasing, withdrawn by the customer',
    seconds: null,
    then: 'revoked',
  },
  {
    from: 'acme',
    to: 'beta',
    subject: ['organization', 'moulin-dore'],
    scopes: READ_ALL,
    paths: ['/attributes/address', '/attributes/legal/legal_name', '/attributes/owners'],
    purpose: 'Credit line, without the capital',
    seconds: 180 * DAY_SECONDS,
  },
  {
    from: 'acme',
    to: 'gamma',
    subject: '*',
    scopes: READ_ALL,
    purpose: 'Audit of the year',
    seconds: 30 * DAY_SECONDS,
  },
  {
    from: 'beta',
    to: 'acme',
    subject: ['organization', 'corrib-pharma'],
    scopes: READ_ALL,
    purpose: 'Supplier check',
    seconds: 180 * DAY_SECONDS,
  },
  {
    from: 'beta',
    to: 'acme',
    subject: ['organization', 'tramuntana-hotels'],
    scopes: ['read_latest'],
    purpose: 'Supplier check',
    seconds: 1 * DAY_SECONDS,
  },
  {
    from: 'beta',
    to: 'gamma',
    subject: ['entity', 'northlight-fund'],
    scopes: READ_ALL,
    purpose: 'Supervision',
    seconds: null,
  },
  {
    from: 'gamma',
    to: 'acme',
    subject: ['organization', 'zephyr-payments'],
    scopes: READ_ALL,
    purpose: 'Public register',
    seconds: null,
  },
  {
    from: 'gamma',
    to: 'beta',
    subject: '*',
    scopes: ['read_latest', 'read_lineage'],
    purpose: 'Public register',
    seconds: null,
  },
];

/** Reads by grantees, each of which leaves a disclosure. `what` is the path below the subject. */
export const READS: readonly (readonly [user: string, tenant: TenantId, subject: Subject, what: string])[] = [
  ['bob', 'beta', ['organization', 'northgate-components'], '/snapshots/latest'],
  ['bob', 'beta', ['organization', 'northgate-components'], '/history?view=header'],
  ['bob', 'beta', ['organization', 'northgate-components'], '/diff?from_version=3&to_version=9'],
  ['bob', 'beta', ['organization', 'moulin-dore'], '/snapshots/latest'],
  ['ines', 'beta', ['organization', 'kestrel-analytics'], ''],
  ['ines', 'beta', ['individual', 'p-1001'], '/snapshots/latest'],
  ['ines', 'beta', ['organization', 'aurora-saastopankki'], '/snapshots/latest'],
  ['carol', 'gamma', ['organization', 'northgate-components'], '/export'],
  ['carol', 'gamma', ['organization', 'bruma-textil'], '/provenance'],
  ['carol', 'gamma', ['organization', 'quillon-print'], '/snapshots/2'],
  ['gustav', 'gamma', ['entity', 'northlight-fund'], '/snapshots/latest'],
  ['dora', 'acme', ['organization', 'corrib-pharma'], '/snapshots/latest'],
  ['dora', 'acme', ['organization', 'zephyr-payments'], '/chain-proof'],
];

interface Proposal {
  by: string;
  tenant: TenantId;
  subject: Subject;
  operations: readonly object[];
  /** Its outcome, and the user who acts. `overtaken`: the user writes another version, so its base is stale. */
  then?: readonly ['applied' | 'withdrawn' | 'overtaken', by: string];
}

const replace = (path: string, value: unknown): object => ({ op: 'replace', path, value });
const add = (path: string, value: unknown): object => ({ op: 'add', path, value });

/** Returns operations that add an item of evidence and name it for a group. */
function shown(group: string, evidenceType: string, daysAgo: number): object[] {
  const capturedAt = new Date(Date.now() - daysAgo * DAY_SECONDS * 1000).toISOString();
  const named = { evidence_id: `${evidenceType}-${capturedAt.slice(0, 10)}`, evidence_type: evidenceType };
  return [
    add('/evidence/-', { ...named, source: 'register', captured_at: capturedAt }),
    add(`/attribute_paths/~1attributes~1${group}`, [{ ...named, role: 'primary' }]),
  ];
}

const MANAGER = 'Lale Demir';

export const PROPOSALS: readonly Proposal[] = [
  {
    by: 'frida',
    tenant: 'acme',
    subject: ['organization', 'lindqvist-papper'],
    operations: [
      replace('/attributes/legal/legal_name', 'Lindqvist Papper AB'),
      add('/attributes/legal/former_names', ['Lindqvist & Ek Papper AB']),
      ...shown('legal', 'registry_extract', 2),
    ],
  },
  {
    by: 'acme-reviewer',
    tenant: 'acme',
    subject: ['organization', 'tsubaki-optics'],
    operations: [replace('/attributes/contact/email', 'contact@tsubaki-optics.example')],
  },
  {
    by: 'frida',
    tenant: 'acme',
    subject: ['organization', 'northgate-components'],
    operations: [replace('/attributes/capital/amount', '500000'), ...shown('capital', 'articles_of_association', 1)],
    then: ['overtaken', 'erik'],
  },
  {
    by: 'frida',
    tenant: 'acme',
    subject: ['organization', 'oberland-molkerei'],
    operations: [replace('/attributes/legal/status', 'dissolved')],
    then: ['withdrawn', 'frida'],
  },
  {
    by: 'acme-reviewer',
    tenant: 'acme',
    subject: ['organization', 'moulin-dore'],
    operations: [
      replace('/attributes/address/street', '11 chemin du Moulin'),
      ...shown('address', 'registry_extract', 3),
    ],
    then: ['applied', 'erik'],
  },
  {
    by: 'ines',
    tenant: 'beta',
    subject: ['organization', 'brightwater-energie'],
    operations: [
      add(
        `/attributes/officers/${keyOf(MANAGER)}`,
        entryOf(MANAGER, { role: 'Geschäftsführerin', since: '2026-01-01' })[1],
      ),
      ...shown('officers', 'registry_extract', 1),
    ],
  },
];

interface Request {
  by: string;
  from: TenantId;
  /** The owner of the subject, who answers. */
  to: TenantId;
  subject: Subject;
  reason: string;
  message: string;
  paths?: readonly string[];
  dueDays?: number;
  expiresSeconds?: number;
  every?: string;
  then?: 'fulfilled' | 'confirmed' | 'declined' | 'cancelled';
}

export const REQUESTS: readonly Request[] = [
  {
    by: 'bob',
    from: 'beta',
    to: 'acme',
    subject: ['organization', 'kestrel-analytics'],
    reason: 'annual_review',
    message: 'The name has changed on your website. Is it registered?',
    paths: ['/attributes/legal/legal_name'],
    dueDays: 5,
    every: 'P1Y',
  },
  {
    by: 'ines',
    from: 'beta',
    to: 'acme',
    subject: ['organization', 'halden-verft'],
    reason: 'licence_expired',
    message: 'Please send the new permit.',
    paths: ['/attributes/licences'],
    dueDays: 14,
    expiresSeconds: 30 * DAY_SECONDS,
  },
  {
    by: 'carol',
    from: 'gamma',
    to: 'acme',
    subject: ['organization', 'bruma-textil'],
    reason: 'missing_evidence',
    message: 'The declaration of the owners is not on file.',
    paths: ['/attributes/owners'],
    dueDays: 2,
  },
  {
    by: 'dora',
    from: 'acme',
    to: 'beta',
    subject: ['organization', 'corrib-pharma'],
    reason: 'supplier_check',
    message: 'Do you know who owns the group today?',
    paths: ['/attributes/owners'],
    dueDays: 7,
  },
  {
    by: 'dora',
    from: 'acme',
    to: 'gamma',
    subject: ['organization', 'zephyr-payments'],
    reason: 'licence_expired',
    message: 'May they still issue electronic money?',
  },
  {
    by: 'bob',
    from: 'beta',
    to: 'acme',
    subject: ['organization', 'meridian-holdings'],
    reason: 'annual_review',
    message: 'The status, please.',
    paths: ['/attributes/legal'],
    every: 'P1Y',
    then: 'fulfilled',
  },
  {
    by: 'bob',
    from: 'beta',
    to: 'acme',
    subject: ['individual', 'p-1001'],
    reason: 'confirmation',
    message: 'Is this still so?',
    then: 'confirmed',
  },
  {
    by: 'carol',
    from: 'gamma',
    to: 'acme',
    subject: ['organization', 'quillon-print'],
    reason: 'stale_data',
    message: 'What is the status supposed to say?',
    then: 'declined',
  },
  {
    by: 'ines',
    from: 'beta',
    to: 'acme',
    subject: ['organization', 'northgate-components'],
    reason: 'duplicate',
    message: 'Asked twice.',
    then: 'cancelled',
  },
  {
    by: 'bob',
    from: 'beta',
    to: 'acme',
    subject: ['organization', 'northgate-components'],
    reason: 'urgent',
    message: 'Within the hour, if at all.',
    expiresSeconds: 2,
  },
];

interface Offer {
  tenant: TenantId;
  to: string;
  message: string;
  then?: 'declined';
}

export const OFFERS: readonly Offer[] = [
  { tenant: 'beta', to: 'ines', message: 'Would you take over?', then: 'declined' },
  { tenant: 'gamma', to: 'gustav', message: 'From the first of the month, as agreed.' },
];

interface Erasure {
  tenant: TenantId;
  subject: Subject;
  versions: 'all' | readonly number[];
  reason: string;
  reference: string;
  /** Absent for an erasure that waits for a second person. */
  confirmedBy?: string;
}

export const ERASURES: readonly Erasure[] = [
  {
    tenant: 'acme',
    subject: ['individual', 'p-1004'],
    versions: 'all',
    reason: 'Asked for by the person concerned.',
    reference: 'DPO-2026-004',
    confirmedBy: 'dora',
  },
  {
    tenant: 'acme',
    subject: ['individual', 'p-1005'],
    versions: [1, 2],
    reason: 'A former address that is no longer needed.',
    reference: 'DPO-2026-009',
    confirmedBy: 'dora',
  },
  {
    tenant: 'beta',
    subject: ['individual', 'kunde-2003'],
    versions: 'all',
    reason: 'No business came of it.',
    reference: 'DS-117',
  },
];
