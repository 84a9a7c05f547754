import { useState } from 'react';
import { Link } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { tenantPath, useAction, useGet, useList } from '../../app/api.ts';
import { useSession } from '../../app/context.tsx';
import { isCaller, useMay } from '../../app/rights.ts';
import { TEXT } from '../../text/tenant.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Section } from '../../ui/page.tsx';
import { Badge, Empty, type Tone } from '../../ui/state.tsx';
import { ListTable } from '../../ui/table.tsx';
import { Who } from '../../ui/who.tsx';
import { LogProofDialog } from '../sharing/log-proof.tsx';
import styles from './tenant.module.css';

const WORDS = TEXT.erasures;
/** Each is asked for by itself. */
const SHOWN = 20;
const TONES: Readonly<Record<api.Erasure['status'], Tone>> = {
  pending: 'warn',
  erased: 'bad',
  cancelled: 'plain',
  expired: 'plain',
};

/** The API lists erasures by subject; which subjects have some, the audit trail knows. */
export function Erasures({ tenantId }: { tenantId: string }) {
  const list = useList<api.AuditRecord>(tenantPath(tenantId, 'audit'), { action: 'erasure.requested', limit: SHOWN });
  const pathOf = ({ target }: api.AuditRecord): string =>
    tenantPath(
      tenantId,
      'subjects',
      target['subject_type'] ?? '',
      target['subject_id'] ?? '',
      'erasures',
      target['erasure_id'] ?? '',
    );
  return (
    <Section title={TEXT.tabs.erasures}>
      <div className={styles.stack}>
        <p className={styles.quiet}>{WORDS.text}</p>
        <ListTable
          caption={WORDS.caption}
          list={list}
          keyOf={({ audit_id: id }) => String(id)}
          empty={
            <Empty title={WORDS.empty}>
              <p>
                {WORDS.emptyText} <code>POST /v1/tenants/{tenantId}/subjects/…/…/erasure</code>
              </p>
            </Empty>
          }
          columns={[
            {
              title: WORDS.subject,
              isHeader: true,
              value: ({ target }) => target['subject_id'],
              cell: ({ target }) => (
                <Link
                  to="/t/$tenantId/subjects/$subjectType/$subjectId"
                  params={{
                    tenantId,
                    subjectType: target['subject_type'] ?? '',
                    subjectId: target['subject_id'] ?? '',
                  }}
                >
                  {target['subject_id']}
                </Link>
              ),
            },
            { title: WORDS.asked, at: ({ at }) => at },
            {
              title: WORDS.by,
              value: ({ principal_id: id }) => id,
              cell: ({ principal_id: id }) => id !== null && <Who id={id} />,
            },
            {
              title: WORDS.versions,
              cell: (record) => <Of path={pathOf(record)}>{({ versions }) => versions.join(', ')}</Of>,
            },
            {
              title: WORDS.status,
              cell: (record) => (
                <Of path={pathOf(record)}>
                  {({ status }) => <Badge tone={TONES[status]}>{WORDS.statuses[status]}</Badge>}
                </Of>
              ),
            },
            { title: WORDS.reason, cell: (record) => <Of path={pathOf(record)}>{({ reason }) => reason}</Of> },
            {
              title: TEXT.actions,
              cell: (record) => (
                <Of path={pathOf(record)}>
                  {(erasure) => <Answers tenantId={tenantId} path={pathOf(record)} erasure={erasure} />}
                </Of>
              ),
            },
          ]}
        />
      </div>
    </Section>
  );
}

function Of({ path, children }: { path: string; children: (erasure: api.ErasureReceipt) => React.ReactNode }) {
  const { data, error } = useGet<api.ErasureReceipt>(path);
  if (error !== null) return <span className={styles.quiet}>{error.message}</span>;
  return data === undefined ? null : children(data);
}

function Answers({ tenantId, path, erasure }: { tenantId: string; path: string; erasure: api.ErasureReceipt }) {
  const may = useMay(tenantId);
  const { subject } = useSession();
  const action = useAction(tenantPath(tenantId));
  const [open, setOpen] = useState<'confirm' | 'cancel' | 'proof' | null>(null);
  if (erasure.status === 'erased') {
    const { subject_type, subject_id } = erasure;
    return (
      <>
        <Button small kind="plain" onClick={() => setOpen('proof')}>
          {TEXT.owners.proof}
        </Button>
        {open === 'proof' && (
          <LogProofDialog
            tenantId={tenantId}
            path={`${path}/log-proof`}
            expected={{ type: 'subject.erased', subject_type, subject_id }}
            onClose={() => setOpen(null)}
          />
        )}
      </>
    );
  }
  if (erasure.status !== 'pending') return null;
  const base = 'POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/erasures/{erasure_id}';
  return (
    <span className={styles.buttons}>
      {may(`${base}/confirm`) && !(isCaller(erasure.requested_by, subject) && erasure.confirmation === 'required') && (
        <Button small kind="danger" onClick={() => setOpen('confirm')}>
          {WORDS.confirm}
        </Button>
      )}
      {may(`${base}/cancel`) && (
        <Button small onClick={() => setOpen('cancel')}>
          {WORDS.cancel}
        </Button>
      )}
      {open !== null && (
        <Confirm
          title={open === 'confirm' ? WORDS.confirmTitle : WORDS.cancelTitle}
          confirm={open === 'confirm' ? WORDS.confirmButton : WORDS.cancel}
          isOpen
          isPending={action.isPending}
          error={action.error}
          onConfirm={() =>
            action.mutate({ method: 'POST', path: `${path}/${open}` }, { onSuccess: () => setOpen(null) })
          }
          onClose={() => setOpen(null)}
        >
          <p>
            {open === 'confirm' ? WORDS.confirmText(erasure.versions.length, erasure.subject_id) : WORDS.cancelText}
          </p>
        </Confirm>
      )}
    </span>
  );
}
