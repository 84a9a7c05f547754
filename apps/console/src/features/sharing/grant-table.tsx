import { useState } from 'react';
import { Link } from '@tanstack/react-router';
import type { useList } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { SCOPES, TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { Badge, type Tone } from '../../ui/state.tsx';
import { type Column, ListTable } from '../../ui/table/table.tsx';
import { Time } from '../../ui/time.tsx';
import { ChangeGrant, GrantProof, RevokeGrant } from './grant-dialogs.tsx';
import { type Grant, type GrantStatus, isOnAll, namesOf, SCOPE_NAMES, type Scope, statusOf } from './grants.ts';
import ui from '../../ui/ui.module.css';
import styles from './sharing.module.css';

const TONES: Readonly<Record<GrantStatus, Tone>> = { live: 'good', expiring: 'warn', expired: 'plain', revoked: 'bad' };

/** An end nearer than this is shown with its time. */
const HOURS_COUNT_MS = 3 * 86_400_000;
const SHORT = 32;

/** Keeps a short text on one line. An id can have 512 characters and wraps. */
export function Word({ children }: { children: string }) {
  return children.length > SHORT ? children : <span className={styles.word}>{children}</span>;
}

export function Scopes({ scopes }: { scopes: readonly Scope[] }) {
  if (scopes.length === SCOPE_NAMES.length) {
    return (
      <span title={namesOf(scopes)}>
        <Badge tone="accent">{TEXT.everything}</Badge>
      </span>
    );
  }
  return (
    <span className={styles.row}>
      {scopes.map((scope) => (
        <span key={scope} title={SCOPES[scope].lets}>
          <Badge tone="accent">{SCOPES[scope].name}</Badge>
        </span>
      ))}
    </span>
  );
}

export function Until({ at }: { at: string | null }) {
  if (at === null) return <span className={styles.quiet}>{TEXT.noEnd}</span>;
  return <Time at={at} dayOnly={Math.abs(Date.parse(at) - Date.now()) > HOURS_COUNT_MS} />;
}

/** Returns the name of a grant's subject for files and sorting. */
export function subjectText({ subject_id: id, ...of }: Pick<Grant, 'subject_type' | 'subject_id'>): string {
  return isOnAll(of) ? TEXT.allSubjects : id;
}

export function SubjectOf({
  tenantId,
  of,
}: {
  tenantId: string;
  of: Pick<Grant, 'subject_type' | 'subject_id' | 'name'>;
}) {
  if (isOnAll(of)) {
    return <span title={TEXT.allSubjectsNote}>{TEXT.allSubjects}</span>;
  }
  return (
    <>
      <Link
        to="/t/$tenantId/subjects/$subjectType/$subjectId/sharing"
        params={{ tenantId, subjectType: of.subject_type, subjectId: of.subject_id }}
      >
        <Word>{of.name ?? of.subject_id}</Word>
      </Link>{' '}
      {of.name !== undefined && <span className={ui.subjectId}>{of.subject_id}</span>}
    </>
  );
}

/** Lists grants with their actions: change or revoke a live grant, and show its proof. */
export function GrantTable({
  tenantId,
  grants,
  list,
  caption,
  changes,
}: {
  tenantId: string;
  /** The grants of the list that are shown. */
  grants: readonly Grant[];
  list: ReturnType<typeof useList<Grant>>;
  caption: string;
  changes: readonly string[];
}) {
  const may = useMay(tenantId);
  const [open, setOpen] = useState<{ grant: Grant; what: 'change' | 'revoke' | 'proof' } | null>(null);
  const close = (): void => setOpen(null);
  const columns: Column<Grant>[] = [
    { title: TEXT.grantee, isHeader: true, value: ({ grantee_tenant_id: grantee }) => grantee },
    { title: TEXT.subject, value: subjectText, cell: (grant) => <SubjectOf tenantId={tenantId} of={grant} /> },
    {
      title: TEXT.status,
      value: (grant) => TEXT.statuses[statusOf(grant)],
      cell: (grant) => {
        const status = statusOf(grant);
        return <Badge tone={TONES[status]}>{TEXT.statuses[status]}</Badge>;
      },
    },
    { title: TEXT.mayRead, value: ({ scopes }) => namesOf(scopes), cell: ({ scopes }) => <Scopes scopes={scopes} /> },
    {
      title: TEXT.until,
      at: ({ expires_at: end, revoked_at: revoked }) => revoked ?? end,
      cell: ({ expires_at: end, revoked_at: revoked }) => <Until at={revoked ?? end} />,
    },
    {
      title: TEXT.purpose,
      value: ({ purpose }) => purpose,
      cell: ({ purpose }) => purpose ?? <span className={styles.quiet}>{TEXT.noPurpose}</span>,
    },
    {
      title: TEXT.actions,
      cell: (grant) => {
        const grantee = grant.grantee_tenant_id;
        return (
          <span className={styles.buttons}>
            {grant.status === 'active' && may('PATCH /v1/tenants/{tenant_id}/grants/{grant_id}') && (
              <Button small aria-label={TEXT.changeOf(grantee)} onClick={() => setOpen({ grant, what: 'change' })}>
                {TEXT.change}
              </Button>
            )}
            {grant.status === 'active' && may('POST /v1/tenants/{tenant_id}/grants/{grant_id}/revoke') && (
              <Button
                small
                kind="danger"
                aria-label={TEXT.revokeOf(grantee)}
                onClick={() => setOpen({ grant, what: 'revoke' })}
              >
                {TEXT.revoke}
              </Button>
            )}
            <Button
              small
              kind="plain"
              aria-label={TEXT.proofOf(grantee)}
              onClick={() => setOpen({ grant, what: 'proof' })}
            >
              {TEXT.proof}
            </Button>
          </span>
        );
      },
    },
  ];
  return (
    <>
      <ListTable
        caption={caption}
        list={{ ...list, items: grants, error: null }}
        keyOf={({ grant_id: id }) => id}
        columns={columns}
        empty={null}
      />
      {open?.what === 'change' && (
        <ChangeGrant tenantId={tenantId} grant={open.grant} changes={changes} onClose={close} />
      )}
      {open?.what === 'revoke' && (
        <RevokeGrant tenantId={tenantId} grant={open.grant} changes={changes} onClose={close} />
      )}
      {open?.what === 'proof' && <GrantProof tenantId={tenantId} grant={open.grant} onClose={close} />}
    </>
  );
}
