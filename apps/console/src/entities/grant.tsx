import { Link } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { Badge, type Tone } from '../ui/page.tsx';
import { badgeColumn, type Column, orQuiet } from '../ui/table/table.tsx';
import { Time } from '../ui/time.tsx';
import ui from '../ui/ui.module.css';
import { type Scope, SCOPES } from '@iss/domain/pure';
import { scopeNames, SCOPE_TITLES } from './scope-names.ts';

/** The reads that each scope permits. */
export const SCOPE_TEXTS: Readonly<Record<Scope, string>> = {
  read_latest: 'The latest version with its attributes and evidence. Search finds the subject by name and identifier.',
  read_lineage: 'Every past and future version: history, the origin of each value, chain proof, export.',
  read_snapshot_by_id: 'A single version by its number or id, with its proof. Not the list of versions.',
  read_diff: 'The changes between two versions, with the values before and after.',
  issue_view: 'Signed credentials of single versions, in the name of the owner.',
};

export const GRANT = {
  grantee: 'Grantee',
  owner: 'Owner',
  subject: 'Subject',
  allSubjects: 'All subjects',
  allSubjectsNote: 'Existing and future subjects',
  mayRead: 'May read',
  everything: 'Everything',
  parts: 'Only:',
  moreParts: (count: number) => `and ${count} more`,
  from: 'from',
  until: 'Until',
  noEnd: 'No end',
  purpose: 'Purpose',
  noPurpose: 'none stated',
  status: 'Status',
  statuses: {
    live: 'Live',
    scheduled: 'Not started',
    expiring: 'Ends within 30 days',
    expired: 'Expired',
    revoked: 'Revoked',
  },
} as const;

export { scopeNames } from './scope-names.ts';

export type Grant = api.Grant;
export type GrantStatus = keyof typeof GRANT.statuses;

/** The number of grants that filters and counts cover. */
export const MOST_GRANTS = 1_000;
const SOON_MS = 30 * 86_400_000;
/** An end nearer than this is shown with its time. */
const HOURS_COUNT_MS = 3 * 86_400_000;
const SHORT = 32;
/** The number of paths of a grant that a table shows. */
const PARTS_SHOWN = 3;
const TONES: Readonly<Record<GrantStatus, Tone>> = {
  live: 'good',
  scheduled: 'plain',
  expiring: 'warn',
  expired: 'plain',
  revoked: 'bad',
};

export function grantStatusOf({ status, expires_at: expiresAt }: Grant): GrantStatus {
  switch (status) {
    case 'active':
      return expiresAt !== null && Date.parse(expiresAt) - Date.now() < SOON_MS ? 'expiring' : 'live';
    case 'scheduled':
    case 'expired':
    case 'revoked':
      return status;
  }
}

/** Returns whether a grant has a status. `live` includes grants that end soon. */
export function hasStatus(grant: Grant, wanted: string | undefined): boolean {
  return wanted === undefined || grantStatusOf(grant) === wanted || (wanted === 'live' && grant.status === 'active');
}

/** Returns whether a grant is live, or will be. */
export function isRunning({ status }: Pick<Grant, 'status'>): boolean {
  return status === 'active' || status === 'scheduled';
}

export function isOnAll({ subject_type: type }: Pick<Grant, 'subject_type'>): boolean {
  return type === '*';
}

/** Returns the name of a grant's subject for files and sorting. */
export function subjectText({ subject_id: id, ...of }: Pick<Grant, 'subject_type' | 'subject_id'>): string {
  return isOnAll(of) ? GRANT.allSubjects : id;
}

function Scopes({ scopes, isWhole }: { scopes: readonly Scope[]; isWhole: boolean }) {
  if (isWhole && scopes.length === SCOPES.length) {
    return (
      <span title={scopeNames(scopes)}>
        <Badge tone="accent">{GRANT.everything}</Badge>
      </span>
    );
  }
  return (
    <span className={ui.row}>
      {scopes.map((scope) => (
        <span key={scope} title={SCOPE_TEXTS[scope]}>
          <Badge tone="accent">{SCOPE_TITLES[scope]}</Badge>
        </span>
      ))}
    </span>
  );
}

export function Until({ at }: { at: string | null }) {
  if (at === null) return <span className={ui.quiet}>{GRANT.noEnd}</span>;
  return <Time at={at} dayOnly={Math.abs(Date.parse(at) - Date.now()) > HOURS_COUNT_MS} />;
}

/** Links to the subject of a grant, by its name if the list has it. */
function GrantedOn({ tenantId, of }: { tenantId: string; of: Pick<Grant, 'subject_type' | 'subject_id' | 'name'> }) {
  const { subject_type: subjectType, subject_id: subjectId, name } = of;
  if (subjectType === '*') return <span title={GRANT.allSubjectsNote}>{GRANT.allSubjects}</span>;
  const text = name ?? subjectId;
  return (
    <>
      <Link to="/t/$tenantId/subjects/$subjectType/$subjectId/sharing" params={{ tenantId, subjectType, subjectId }}>
        {/* A short text wraps between words only. An id can have 512 characters and wraps anywhere. */}
        {text.length > SHORT ? text : <span className={ui.word}>{text}</span>}
      </Link>{' '}
      {name !== undefined && <span className={ui.subjectId}>{subjectId}</span>}
    </>
  );
}

export const GRANTEE: Column<{ grantee_tenant_id: string }> = {
  title: GRANT.grantee,
  isHeader: true,
  value: ({ grantee_tenant_id: grantee }) => grantee,
};

export const GRANTOR: Column<{ granted_by_tenant_id: string }> = {
  title: GRANT.owner,
  value: ({ granted_by_tenant_id: owner }) => owner,
};

/** Returns the column of the subject that a grant, a period or a disclosure is about. */
export function subjectColumn(tenantId: string): Column<Pick<Grant, 'subject_type' | 'subject_id' | 'name'>> {
  return { title: GRANT.subject, value: subjectText, cell: (item) => <GrantedOn tenantId={tenantId} of={item} /> };
}

interface Readable {
  readonly scopes: readonly Scope[];
  /** Null for everything. */
  readonly paths: readonly string[] | null;
  readonly starts_at?: string | null;
}

/** The column of what a grant shows, and from when if it has not started. */
export const MAY_READ: Column<Readable> = {
  title: GRANT.mayRead,
  value: ({ scopes, paths }) => scopeNames(scopes) + (paths === null ? '' : `. ${GRANT.parts} ${paths.join(', ')}`),
  cell: (grant) => <MayRead {...grant} />,
};

function MayRead({ scopes, paths, starts_at: start }: Readable) {
  const isLater = typeof start === 'string' && Date.parse(start) > Date.now();
  return (
    <>
      <Scopes scopes={scopes} isWhole={paths === null} />
      {paths !== null && (
        <div className={ui.quiet} title={paths.join('\n')}>
          {GRANT.parts} {paths.slice(0, PARTS_SHOWN).join(', ')}{' '}
          {paths.length > PARTS_SHOWN && GRANT.moreParts(paths.length - PARTS_SHOWN)}
        </div>
      )}
      {isLater && (
        <div className={ui.quiet}>
          {GRANT.from} <Time at={start} />
        </div>
      )}
    </>
  );
}

/** Returns the column of the end. A grant without an end has a text in it too. */
export function untilColumn<T>(title: string, endOf: (item: T) => string | null): Column<T> {
  return { title, at: endOf, cell: (item) => <Until at={endOf(item)} /> };
}

export const UNTIL = untilColumn<{ expires_at: string | null }>(GRANT.until, ({ expires_at: end }) => end);
export const PURPOSE = orQuiet<{ purpose: string | null }>(GRANT.purpose, ({ purpose }) => purpose, GRANT.noPurpose);
export const STATUS = badgeColumn(GRANT.status, grantStatusOf, TONES, GRANT.statuses);
