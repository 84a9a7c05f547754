import type { ReactNode } from 'react';
import { Link, Outlet } from '@tanstack/react-router';
import { ApiError } from '@identity-state/client';
import { SUBJECT_VIEW, type SubjectAddress, useSubject } from '../../app/address.ts';
import { useMay } from '../../app/rights.ts';
import { useForgetErased } from '../../entities/erased.ts';
import type { Scope } from '@iss/domain/pure';
import { type SubjectAccess, useLostScopes, useSubjectAccess, useSubjectHead } from '../../entities/subject-access.ts';
import { SUBJECT as WORDS, useOwnName, useSharedName } from '../../entities/subject.tsx';
import { TEXT } from '../../shell/words.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Loaded, Badge, Notice } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { GrantsToTenant, MapProofButton } from '../sharing/absence.tsx';
import { TEXT as SHARING } from '../sharing/words.ts';
import ui from '../../ui/ui.module.css';
import { FRAME } from './words.ts';
import styles from './subject.module.css';

/** The views of a subject, with the scopes that open them; null for views of the owner only. */
const TABS = [
  [SUBJECT_VIEW, TEXT.subjectTabs.attributes, ['read_latest', 'read_lineage', 'read_snapshot_by_id']],
  [`${SUBJECT_VIEW}/timeline`, TEXT.subjectTabs.timeline, ['read_latest', 'read_lineage']],
  [`${SUBJECT_VIEW}/compare`, TEXT.subjectTabs.compare, ['read_diff', 'read_lineage', 'read_snapshot_by_id']],
  [`${SUBJECT_VIEW}/proof`, TEXT.subjectTabs.proof, ['read_snapshot_by_id', 'read_lineage']],
  [`${SUBJECT_VIEW}/proposals`, TEXT.subjectTabs.proposals, null],
  [`${SUBJECT_VIEW}/sharing`, TEXT.subjectTabs.sharing, null],
  [
    `${SUBJECT_VIEW}/requests`,
    TEXT.subjectTabs.requests,
    ['read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff'],
  ],
] as const;

/** The frame of every view of a subject: its name, its owner, the access to it, and the tabs. */
export function SubjectFrame() {
  const access = useSubjectAccess();
  const subject = useSubject();
  return (
    <div className={ui.stack}>
      <Loaded query={access}>{(known) => <Frame key={subject.path} access={known} />}</Loaded>
      {isRefused(access.error) && <Unshared subject={subject} />}
    </div>
  );
}

function isRefused(error: Error | null): boolean {
  return error instanceof ApiError && (error.status === 403 || error.status === 404);
}

/** Lets a tenant without access prove that the subject was never shared with it. */
function Unshared({ subject }: { subject: SubjectAddress }) {
  return (
    <MapProofButton label={SHARING.proving.noGrant} note={SHARING.proving.noGrantText(subject.tenantId)}>
      {(close) => <GrantsToTenant subject={subject} onClose={close} />}
    </MapProofButton>
  );
}

function Frame({ access }: { access: SubjectAccess }) {
  const subject = useSubject();
  const { tenantId, subjectType, subjectId, params } = subject;
  const may = useMay(tenantId);
  const head = useSubjectHead(access).data;
  const showsName = !access.isOwner && head !== undefined && head.erased === undefined && access.may('read_lineage');
  const own = useOwnName(subject, access.isOwner);
  const name = useSharedName(tenantId, subjectType, subjectId, showsName ? head.snapshot_version : null) ?? own;
  // An erased version cannot be changed.
  const mayPropose =
    access.isOwner &&
    head?.erased === undefined &&
    may('POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/updates');
  const lost = useLostScopes(access);
  useForgetErased();
  return (
    <div className={styles.frame}>
      <header className={styles.head}>
        <div className={styles.who}>
          <p className={styles.name}>{name ?? subjectId}</p>
          <p className={styles.facts}>
            <Badge>{WORDS.types[subjectType]}</Badge>
            {name !== null && (
              <span>
                <code>{subjectId}</code> <Copy text={subjectId} />
              </span>
            )}
            {head !== undefined && (
              <span>
                {FRAME.version(head.snapshot_version)}, {FRAME.written} <Time at={head.created_at} />
              </span>
            )}
            {head?.erased !== undefined && <Badge tone="warn">{FRAME.erased}</Badge>}
            <Ownership access={access} />
          </p>
        </div>
        {mayPropose && (
          <Link to={`${SUBJECT_VIEW}/proposals/new`} params={params} className={buttonClass()}>
            {FRAME.propose}
          </Link>
        )}
      </header>
      {lost.length > 0 && <Notice tone="warn">{FRAME.lost(saidOf(lost))}</Notice>}
      {!access.isOwner && access.isFound && <Granted access={access} />}
      <nav className={ui.tabs} aria-label={FRAME.views(subjectId)}>
        {TABS.filter(([, , scopes]) => access.isOwner || (scopes !== null && access.may(...scopes))).map(
          ([to, label]) => (
            <Link
              key={to}
              to={to}
              params={params}
              className={ui.tab}
              activeOptions={{ exact: to === SUBJECT_VIEW, includeSearch: false }}
            >
              {label}
            </Link>
          ),
        )}
      </nav>
      {(access.isFound || lost.length === 0) && <Outlet />}
    </div>
  );
}

function Ownership({ access: { isOwner, owner } }: { access: SubjectAccess }): ReactNode {
  if (isOwner) return <Badge tone="good">{FRAME.ours}</Badge>;
  return (
    <>
      <span>
        {FRAME.ownedBy} <strong>{owner}</strong>
      </span>
      <Badge tone="accent">{FRAME.sharedWithUs}</Badge>
    </>
  );
}

function saidOf(scopes: readonly Scope[]): string {
  return scopes.map((scope) => FRAME.scopes[scope]).join(', ');
}

/** Shows the granted scopes, and those that are not granted. */
function Granted({ access: { scopes, until } }: { access: SubjectAccess }) {
  const all: readonly Scope[] = ['read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff'];
  const missing = all.filter((scope) => !scopes.includes(scope));
  return (
    <p className={styles.granted}>
      {FRAME.reads} {saidOf(scopes)}
      {until !== null && (
        <>
          {' '}
          {FRAME.until} <Time at={until} />
        </>
      )}
      .{missing.length > 0 && ` ${FRAME.readsNot} ${saidOf(missing)}.`}
    </p>
  );
}
