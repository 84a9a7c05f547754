import { useState } from 'react';
import { Link } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { tenantPath, useAction, useList } from '../../app/api.ts';
import { useSession } from '../../app/context.tsx';
import { isCaller, useMay } from '../../app/rights.ts';
import { TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Section } from '../../ui/page.tsx';
import { Badge, Empty, type Tone } from '../../ui/state.tsx';
import { ListTable } from '../../ui/table/table.tsx';
import { Who } from '../../entities/who.tsx';
import { LogProofDialog } from '../sharing/log-proof.tsx';
import styles from './tenant.module.css';

const WORDS = TEXT.erasures;
const SHOWN = 20;
const TONES: Readonly<Record<api.Erasure['status'], Tone>> = {
  pending: 'warn',
  erased: 'bad',
  cancelled: 'plain',
  expired: 'plain',
};

export function Erasures({ tenantId }: { tenantId: string }) {
  const list = useList<api.Erasure>(tenantPath(tenantId, 'erasures'), { limit: SHOWN });
  return (
    <Section title={TEXT.tabs.erasures}>
      <div className={styles.stack}>
        <p className={styles.quiet}>{WORDS.text}</p>
        <ListTable
          caption={WORDS.caption}
          list={list}
          keyOf={({ erasure_id: id }) => id}
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
              value: ({ subject_id: id }) => id,
              cell: ({ subject_type: subjectType, subject_id: subjectId }) => (
                <Link to="/t/$tenantId/subjects/$subjectType/$subjectId" params={{ tenantId, subjectType, subjectId }}>
                  {subjectId}
                </Link>
              ),
            },
            { title: WORDS.asked, at: ({ requested_at: at }) => at },
            { title: WORDS.by, value: ({ requested_by: id }) => id, cell: ({ requested_by: id }) => <Who id={id} /> },
            { title: WORDS.versions, cell: ({ versions }) => versions.join(', ') },
            {
              title: WORDS.status,
              cell: ({ status }) => <Badge tone={TONES[status]}>{WORDS.statuses[status]}</Badge>,
            },
            { title: WORDS.reason, cell: ({ reason }) => reason },
            { title: TEXT.actions, cell: (erasure) => <Answers tenantId={tenantId} erasure={erasure} /> },
          ]}
        />
      </div>
    </Section>
  );
}

function Answers({ tenantId, erasure }: { tenantId: string; erasure: api.Erasure }) {
  const { subject_type, subject_id, erasure_id } = erasure;
  const path = tenantPath(tenantId, 'subjects', subject_type, subject_id, 'erasures', erasure_id);
  const may = useMay(tenantId);
  const { subject } = useSession();
  const action = useAction(tenantPath(tenantId));
  const [open, setOpen] = useState<'confirm' | 'cancel' | 'proof' | null>(null);
  if (erasure.status === 'erased') {
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
