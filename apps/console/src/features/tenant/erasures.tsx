import { Link } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { OF_SUBJECT } from '../../app/address.ts';
import { apiCall, tenantPath, useList } from '../../app/api.ts';
import { useSession } from '../../app/context.tsx';
import { isCaller, useMay } from '../../app/rights.ts';
import { whoColumn } from '../../entities/principal.tsx';
import { ConfirmCall } from '../../forms/form.tsx';
import { ListSection } from '../../forms/list-page.tsx';
import { useRowActions } from '../../forms/row-actions.tsx';
import type { Tone } from '../../ui/page.tsx';
import { badgeColumn } from '../../ui/table/table.tsx';
import { LogProofDialog } from '../sharing/log-proof.tsx';
import { TEXT } from './words.ts';

type Erasure = api.Erasure;

const WORDS = TEXT.erasures;
const PAGE_SIZE = 20;
const OF_ERASURE = `${OF_SUBJECT}/erasures/{erasure_id}` as const;
const TONES: Readonly<Record<Erasure['status'], Tone>> = {
  pending: 'warn',
  erased: 'bad',
  cancelled: 'plain',
  expired: 'plain',
};

export function Erasures({ tenantId }: { tenantId: string }) {
  const may = useMay(tenantId);
  const { subject } = useSession();
  const idsOf = ({ subject_type, subject_id, erasure_id }: Erasure) => ({
    tenant_id: tenantId,
    subject_type,
    subject_id,
    erasure_id,
  });
  const answer = (erasure: Erasure, how: 'confirm' | 'cancel') => ({
    call: apiCall('POST', `${OF_ERASURE}/${how}`, { path: idsOf(erasure) }),
    changes: [tenantPath(tenantId)],
  });
  const [actions, dialog] = useRowActions<Erasure>(TEXT.actions, [
    {
      label: TEXT.owners.proof,
      kind: 'plain',
      isOffered: ({ status }) => status === 'erased',
      dialog: (erasure, close) => (
        <LogProofDialog
          tenantId={tenantId}
          call={apiCall('GET', `${OF_ERASURE}/log-proof`, { path: idsOf(erasure) })}
          expected={{
            type: 'subject.erased',
            tenant_id: tenantId,
            subject_type: erasure.subject_type,
            subject_id: erasure.subject_id,
          }}
          onClose={close}
        />
      ),
    },
    {
      label: WORDS.confirm,
      kind: 'danger',
      isOffered: ({ status, requested_by: by, confirmation }) =>
        status === 'pending' &&
        may(`POST ${OF_ERASURE}/confirm`) &&
        !(isCaller(by, subject) && confirmation === 'required'),
      dialog: (erasure, close) => (
        <ConfirmCall
          {...answer(erasure, 'confirm')}
          title={WORDS.confirmTitle}
          confirm={WORDS.confirmButton}
          onClose={close}
        >
          <p>{WORDS.confirmText(erasure.versions.length, erasure.subject_id)}</p>
        </ConfirmCall>
      ),
    },
    {
      label: WORDS.cancel,
      isOffered: ({ status }) => status === 'pending' && may(`POST ${OF_ERASURE}/cancel`),
      dialog: (erasure, close) => (
        <ConfirmCall {...answer(erasure, 'cancel')} title={WORDS.cancelTitle} confirm={WORDS.cancel} onClose={close}>
          <p>{WORDS.cancelText}</p>
        </ConfirmCall>
      ),
    },
  ]);
  const list = useList(
    apiCall('GET', '/v1/tenants/{tenant_id}/erasures', { path: { tenant_id: tenantId }, query: { limit: PAGE_SIZE } }),
  );
  return (
    <ListSection
      title={TEXT.tabs.erasures}
      note={WORDS.text}
      caption={WORDS.caption}
      list={list}
      keyOf={({ erasure_id: id }) => id}
      empty={{
        title: WORDS.empty,
        text: (
          <>
            {WORDS.emptyText} <code>POST /v1/tenants/{tenantId}/subjects/…/…/erasure</code>
          </>
        ),
      }}
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
        whoColumn(WORDS.by, (erasure: Erasure) => erasure.requested_by),
        { title: WORDS.versions, cell: ({ versions }) => versions.join(', ') },
        badgeColumn(WORDS.status, (erasure: Erasure) => erasure.status, TONES, WORDS.statuses),
        { title: WORDS.reason, cell: ({ reason }) => reason },
        actions,
      ]}
    >
      {dialog}
    </ListSection>
  );
}
