import type { api } from '@identity-state/client';
import { OF_SUBJECT } from '../../app/address.ts';
import { apiCall, tenantPath } from '../../app/api.ts';
import { useSession } from '../../app/context.tsx';
import { isCaller, useMay } from '../../app/rights.ts';
import { whoColumn } from '../../entities/principal.tsx';
import { subjectLinkColumn } from '../../entities/subject.tsx';
import { ListSection } from '../../forms/list-page.tsx';
import type { RowAction } from '../../forms/row-actions.tsx';
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

/** Lists the erasures of a tenant. Its humans confirm and cancel those that wait. */
export function Erasures({ tenantId }: { tenantId: string }) {
  const rowActions = useErasureActions(tenantId);
  const text = (
    <>
      {WORDS.emptyText} <code>POST /v1/tenants/{tenantId}/subjects/…/…/erasure</code>
    </>
  );
  return (
    <ListSection
      title={TEXT.tabs.erasures}
      note={WORDS.text}
      caption={WORDS.caption}
      call={apiCall('GET', '/v1/tenants/{tenant_id}/erasures', {
        path: { tenant_id: tenantId },
        query: { limit: PAGE_SIZE },
      })}
      keyOf={({ erasure_id: id }) => id}
      empty={{ title: WORDS.empty, text }}
      columns={[
        { ...subjectLinkColumn(WORDS.subject, tenantId), isHeader: true },
        { title: WORDS.asked, at: ({ requested_at: at }) => at },
        whoColumn(WORDS.by, (erasure: Erasure) => erasure.requested_by),
        { title: WORDS.versions, cell: ({ versions }) => versions.join(', ') },
        badgeColumn(WORDS.status, (erasure: Erasure) => erasure.status, TONES, WORDS.statuses),
        { title: WORDS.reason, cell: ({ reason }) => reason },
      ]}
      changes={[tenantPath(tenantId)]}
      rowActions={rowActions}
    />
  );
}

function useErasureActions(tenantId: string): readonly RowAction<Erasure>[] {
  const may = useMay(tenantId);
  const { subject } = useSession();
  const idsOf = ({ subject_type, subject_id, erasure_id }: Erasure) => ({
    path: { tenant_id: tenantId, subject_type, subject_id, erasure_id },
  });
  return [
    {
      label: TEXT.owners.proof,
      kind: 'plain',
      isOffered: ({ status }) => status === 'erased',
      dialog: (erasure, close) => {
        const { subject_type, subject_id } = erasure;
        return (
          <LogProofDialog
            tenantId={tenantId}
            call={apiCall('GET', `${OF_ERASURE}/log-proof`, idsOf(erasure))}
            expected={{ type: 'subject.erased', tenant_id: tenantId, subject_type, subject_id }}
            onClose={close}
          />
        );
      },
    },
    {
      label: WORDS.confirm,
      kind: 'danger',
      isOffered: ({ status, requested_by: by, confirmation }) =>
        status === 'pending' &&
        may(`POST ${OF_ERASURE}/confirm`) &&
        !(isCaller(by, subject) && confirmation === 'required'),
      question: (erasure) => ({
        title: WORDS.confirmTitle,
        confirm: WORDS.confirmButton,
        text: WORDS.confirmText(erasure.versions.length, erasure.subject_id),
        call: apiCall('POST', `${OF_ERASURE}/confirm`, idsOf(erasure)),
      }),
    },
    {
      label: WORDS.cancel,
      isOffered: ({ status }) => status === 'pending' && may(`POST ${OF_ERASURE}/cancel`),
      question: (erasure) => ({
        title: WORDS.cancelTitle,
        text: WORDS.cancelText,
        call: apiCall('POST', `${OF_ERASURE}/cancel`, idsOf(erasure)),
      }),
    },
  ];
}
