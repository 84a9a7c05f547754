import type { AccessibleFilter, api, GrantFilter, Tenant } from '@identity-state/client';
import { UsageError } from '../command';
import { defineCall, defineList, listing } from '../service/define';
import { momentToCome } from '../service/moments';
import { scopesOf } from '../service/scopes';
import { OPTIONAL_SUBJECT, subjectFilter, type SubjectName, subjectOf } from '../service/subject-name';

/** Excludes two directions. */
const DIRECTION = {};
const PENDING = { about: 'Grant id, from iss pending.' } as const;

const PATHS_ABOUT = 'JSON Pointer below /attributes: the reader sees these parts only (default: everything).';
const FROM = {
  value: 'TIME',
  about: 'Start of the grant, such as 2026-12-31 or 7d (default: now).',
  read: momentToCome,
} as const;
const UNTIL = {
  value: 'TIME',
  about: 'End of the grant, such as 2026-12-31 or 90d (default: none).',
  read: momentToCome,
} as const;

export const share = defineCall({
  about:
    'The scopes are latest (the latest version), lineage (every version and the history), snapshot_by_id (single versions) and diff (changes between two versions). all means these four. issue_view lets the reader issue credentials. Only principals of the reader with allow_counterparty_access can use the grant.',
  arguments: {
    subject: {
      about: 'Subject, or "*" for all current and future subjects of your tenant.',
      read: (text: string) => (text === '*' ? null : subjectOf(text)),
    },
    reader: { about: 'Tenant id of the reader.' },
  },
  options: {
    scopes: {
      value: 'LIST',
      about: 'all, or a list such as latest,lineage.',
      required: '--scopes is missing: --scopes all, or a list such as latest,lineage.',
      read: scopesOf,
    },
    path: { value: 'POINTER', about: PATHS_ABOUT, isRepeated: true },
    from: FROM,
    until: UNTIL,
    purpose: { value: 'TEXT', about: 'Purpose. Events and log entries do not contain it.' },
  },
  async call(
    { tenant },
    { subject, reader, scopes, path, from, until, purpose },
  ): Promise<api.CreatedGrant | api.PendingGrant> {
    const grant = {
      grantee_tenant_id: reader,
      scopes,
      ...(path.length === 0 ? {} : { paths: [...path] }),
      ...(from === undefined ? {} : { starts_at: from }),
      ...(until === undefined ? {} : { expires_at: until }),
      ...(purpose === undefined ? {} : { purpose }),
    };
    if (subject === null) return tenant.grants.create({ ...grant, subject_type: '*' });
    return tenant.subject(subject.type, subject.id).share(grant);
  },
  text: (grant) =>
    grant.status === 'pending'
      ? [
          `Another human must confirm by ${grant.confirm_by}: ${grantText(grant)}`,
          `They can confirm with their own profile: iss pending confirm ${grant.grant_id}`,
        ]
      : [grantText(grant), `To revoke it: iss revoke ${grant.grant_id}`],
});

export const amend = defineCall({
  about:
    'It takes effect immediately. Options that you leave out stay as they are. The log and the access history have the previous values.',
  arguments: { grant: { about: 'Grant id, from iss share or iss grants.' } },
  options: {
    scopes: { value: 'LIST', about: 'all, or a list such as latest,lineage.', read: scopesOf },
    path: {
      value: 'POINTER',
      about: 'JSON Pointer below /attributes: the reader sees these parts only.',
      isRepeated: true,
    },
    everything: { about: 'The reader sees everything, instead of parts.' },
    from: FROM,
    until: UNTIL,
    reason: { value: 'TEXT', about: 'Reason, stored with the change.' },
  },
  check({ path, everything }) {
    if (everything && path.length > 0)
      throw new UsageError('--path and --everything exclude each other. Remove one of them.');
  },
  call({ tenant }, { grant, scopes, path, everything, from, until, reason }) {
    return tenant.grants.change(grant, {
      ...(scopes === undefined ? {} : { scopes }),
      ...(everything ? { paths: null } : path.length === 0 ? {} : { paths: [...path] }),
      ...(from === undefined ? {} : { starts_at: from }),
      ...(until === undefined ? {} : { expires_at: until }),
      ...(reason === undefined ? {} : { reason }),
    });
  },
  text: (grant) => grantText(grant),
});

export const accept = defineCall({
  about: 'Its subjects then appear in iss grants --held and iss changes. Reading with the grant also accepts it.',
  arguments: { grant: { about: 'Grant id, from iss grants --offered.' } },
  call: ({ tenant }, { grant }) => tenant.grants.accept(grant),
  text: (grant) => `Accepted the grant on ${subjectText(grant)} of ${grant.grantor_tenant_id}`,
});

export const revoke = defineCall({
  about: 'It takes effect immediately. The reader keeps what it has already read.',
  arguments: { grant: { about: 'Grant id, from iss share or iss grants.' } },
  call: ({ tenant }, { grant }) => tenant.grants.revoke(grant),
  text: (grant) => `Revoked the grant of ${grant.grantee_tenant_id} on ${subjectText(grant)} at ${grant.revoked_at}`,
});

export const pending = defineList({
  about: 'Newest first. A pending grant gives no rights until a second human confirms it, within a day.',
  list: () =>
    listing({
      items: ({ tenant }) => pendingOf(tenant),
      none: 'No grant waits for confirmation.',
      paint: { grant: 'yellow' },
      columns: (grant) => ({
        grant: grant.grant_id,
        reader: grant.grantee_tenant_id,
        scopes: grant.scopes.join(', '),
        'requested by': grant.requested_by,
        'confirm by': grant.confirm_by,
      }),
    }),
});

async function* pendingOf(tenant: Tenant): AsyncGenerator<api.PendingGrant, void> {
  for await (const grant of tenant.pendingGrants.list()) if (grant.status === 'pending') yield grant;
}

export const pendingConfirm = defineCall({
  about: 'A human other than the requester must confirm it.',
  arguments: { grant: PENDING },
  call: ({ tenant }, { grant }) => tenant.pendingGrants.confirm(grant),
  text: grantText,
});

export const pendingCancel = defineCall({
  arguments: { grant: PENDING },
  call: ({ tenant }, { grant }) => tenant.pendingGrants.cancel(grant),
  text: ({ grantee_tenant_id: reader }) => `Cancelled the pending grant for ${reader}`,
});

export const grants = defineList({
  about: 'Newest first, active grants only.',
  arguments: { subject: OPTIONAL_SUBJECT },
  options: {
    all: { about: 'Include ended grants.' },
    received: { about: 'Grants that your tenant received.', group: DIRECTION },
    offered: { about: 'Grants on all subjects of another tenant that yours has not accepted.', group: DIRECTION },
    held: { about: 'Subjects of other tenants that yours may read.' },
    prefix: { value: 'TEXT', about: 'With --held: start of the subject id.' },
    with: { value: 'TENANT', about: 'Only grants with this tenant.' },
  },
  list({ subject, all, received, offered, held, prefix, with: other }) {
    if (held) {
      if (all) throw new UsageError('--held lists subjects that can be read now, so it excludes --all.');
      return heldList({
        ...subjectFilter(subject),
        ...(prefix === undefined ? {} : { subject_id_prefix: prefix }),
        ...(other === undefined ? {} : { granted_by_tenant_id: other }),
      });
    }
    const direction = received ? 'received' : offered ? 'offered' : 'issued';
    if (offered && subject !== undefined)
      throw new UsageError('--offered lists grants on all subjects. Remove SUBJECT.');
    return listing({
      items: ({ tenant }) => grantsOf(tenant, direction, { isAll: all, subject, other }),
      none: offered ? 'No grant waits for acceptance.' : noneText(direction, all),
      paint: { grant: 'yellow' },
      columns: (grant) => ({
        ...(direction === 'issued' ? { name: grant.name } : {}),
        grant: grant.grant_id,
        subject: subjectText(grant),
        ...(direction === 'issued' ? { reader: grant.grantee_tenant_id } : { owner: grant.grantor_tenant_id }),
        scopes: grant.scopes.join(', '),
        until: endText(grant),
      }),
    });
  },
});

const heldList = (filter: AccessibleFilter) =>
  listing({
    items: ({ tenant }) => tenant.accessibleSubjects(filter),
    none: 'No tenant shares a subject with yours.',
    paint: { subject: 'yellow' },
    columns: ({ subject_type: type, subject_id: id, granted_by_tenant_id: owner, scopes, expires_at: until }) => ({
      subject: `${type}/${id}`,
      owner,
      scopes: scopes.join(', '),
      until,
    }),
  });

function noneText(direction: string, isAll: boolean): string {
  if (direction === 'received')
    return isAll ? 'Your tenant never received a grant.' : 'Your tenant holds no active grant.';
  return isAll ? 'There never was a grant.' : 'There is no active grant. No other tenant may read.';
}

async function* grantsOf(
  tenant: Tenant,
  direction: 'issued' | 'received' | 'offered',
  { isAll, subject, other }: { isAll: boolean; subject: SubjectName | undefined; other: string | undefined },
): AsyncGenerator<api.Grant, void> {
  if (direction === 'issued' && subject !== undefined) {
    // This list includes the grants on all subjects.
    for await (const grant of tenant.subject(subject.type, subject.id).grants()) {
      if ((isAll || grant.status === 'active') && (other === undefined || grant.grantee_tenant_id === other))
        yield grant;
    }
    return;
  }
  const filter: GrantFilter = { ...(isAll ? {} : { status: 'active' }), ...subjectFilter(subject) };
  const partner = direction === 'issued' ? 'grantee_tenant_id' : 'grantor_tenant_id';
  const list = direction === 'issued' ? 'list' : direction;
  yield* tenant.grants[list]({ ...filter, ...(other === undefined ? {} : { [partner]: other }) });
}

function endText({ status, starts_at: since, expires_at: until, revoked_at: revokedAt }: api.Grant): string | null {
  switch (status) {
    case 'scheduled':
      return `${until ?? 'without end'}, from ${since}`;
    case 'active':
      return until;
    case 'expired':
      return `expired at ${until}`;
    case 'revoked':
      return `revoked at ${revokedAt}`;
  }
}

/** Describes a grant in one line. */
function grantText(grant: api.Grant | api.PendingGrant): string {
  const { grantee_tenant_id: reader, scopes, paths = null, starts_at: since = null, expires_at: until } = grant;
  const terms = [
    ...scopes,
    ...(paths === null ? [] : [`only ${paths.join(' ')}`]),
    ...(since === null ? [] : [`from ${since}`]),
    until === null ? 'without end' : `until ${until}`,
  ];
  return `${reader} may read ${subjectText(grant)}: ${terms.join(', ')}`;
}

/** Names the subject of a grant. */
function subjectText({ subject_type: type, subject_id: id }: Pick<api.Grant, 'subject_type' | 'subject_id'>): string {
  return type === '*' ? 'every subject' : `${type}/${id}`;
}
