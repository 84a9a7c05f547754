import { useState } from 'react';
import { useSearch } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { type SubjectAddress, useSubject } from '../../app/address.ts';
import { tenantPath, useGet, useList } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { useWholeList } from '../../app/whole-list.ts';
import {
  type Grant,
  GRANTOR,
  isOnAll,
  MAY_READ,
  MOST_GRANTS,
  PURPOSE,
  statusOf,
  UNTIL,
} from '../../entities/grant.tsx';
import { DialogButton } from '../../forms/row-actions.tsx';
import { Checkbox } from '../../ui/field.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Answer, Empty, Notice } from '../../ui/state.tsx';
import { ListTable } from '../../ui/table/table.tsx';
import ui from '../../ui/ui.module.css';
import { Access } from './access.tsx';
import { Disclosures } from './disclosures.tsx';
import { GrantTable } from './grant-table.tsx';
import { MakeGrants } from './make-grants.tsx';
import { TEXT } from './words.ts';

const ROUTE = '/signed-in/t/$tenantId/subjects/$subjectType/$subjectId/sharing';

/** Shows which other tenants may read a subject, could read it at any moment, and have read it. */
export function SubjectSharingView() {
  const subject = useSubject();
  const { tenantId, subjectType, subjectId, path } = subject;
  const owners = useGet<api.OwnershipPage>(`${path}/owners`);
  const may = useMay(tenantId);
  const owner = owners.data?.items[0]?.owner_tenant_id;
  const isOwn = owner === tenantId;
  return (
    <Page
      title={TEXT.subjectTitle}
      note={TEXT.subjectNote(subjectId)}
      call={{ method: 'GET', path: `${path}/${isOwn || owner === undefined ? 'grants' : 'owners'}` }}
      actions={
        isOwn &&
        may('POST /v1/tenants/{tenant_id}/grants') && (
          <DialogButton kind="primary" label={TEXT.grant}>
            {(close) => <MakeGrants tenantId={tenantId} subject={`${subjectType}/${subjectId}`} onClose={close} />}
          </DialogButton>
        )
      }
    >
      <Answer query={owners}>
        {() => (isOwn ? <Own subject={subject} /> : <Foreign subject={subject} owner={owner ?? ''} />)}
      </Answer>
    </Page>
  );
}

function Own({ subject }: { subject: SubjectAddress }) {
  const { from, to, grantee } = useSearch({ from: ROUTE });
  const may = useMay(subject.tenantId);
  const isAdmin = may('GET /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/access-history');
  return (
    <>
      <Readers subject={subject} isAdmin={isAdmin} />
      {isAdmin ? (
        <>
          <Access tenantId={subject.tenantId} path={subject.path} />
          <Disclosures
            path={`${subject.path}/disclosures`}
            readerId={null}
            words={TEXT.did}
            from={from}
            to={to}
            grantee={grantee}
          />
        </>
      ) : (
        <Notice>{TEXT.adminOnly}</Notice>
      )}
    </>
  );
}

/** Lists the grants on a subject, live ones first. */
function Readers({ subject, isAdmin }: { subject: SubjectAddress; isAdmin: boolean }) {
  const { tenantId, subjectType, subjectId } = subject;
  const [isAll, setAll] = useState(false);
  const list = useWholeList<Grant>(
    isAdmin ? `${subject.path}/grants` : tenantPath(tenantId, 'grants'),
    isAdmin ? { limit: MOST_GRANTS } : { subject_type: subjectType, subject_id: subjectId, limit: 100 },
    MOST_GRANTS,
  );
  const onAll = useWholeList<Grant>(
    isAdmin ? null : tenantPath(tenantId, 'grants'),
    { subject_type: '*', limit: 100 },
    MOST_GRANTS,
  );
  const grants = isAdmin ? list.items : [...onAll.items.filter(isOnAll), ...list.items];
  const live = grants.filter(({ status }) => status === 'active');
  const over = grants.filter(({ status }) => status !== 'active');
  const visible = isAll ? [...live, ...over] : live;
  return (
    <Section
      title={TEXT.who}
      actions={
        over.length > 0 && <Checkbox label={TEXT.over(over.length)} checked={isAll} onChange={() => setAll(!isAll)} />
      }
    >
      <Answer query={list}>
        {() => (
          <>
            <p>
              {TEXT.whoSummary(
                live.length,
                live.filter((grant) => statusOf(grant) === 'expiring').length,
                list.isWhole,
              )}
            </p>
            {!list.isWhole && <p className={ui.quiet}>{TEXT.notWhole(list.items.length)}</p>}
            {visible.length > 0 && (
              <GrantTable tenantId={tenantId} grants={visible} list={list} caption={TEXT.subjectCaption} />
            )}
            {grants.length === 0 && <Empty title={TEXT.noneOn} text={TEXT.noneOnText} />}
          </>
        )}
      </Answer>
    </Section>
  );
}

/** Shows this tenant's access to a subject of another tenant. */
function Foreign({ subject, owner }: { subject: SubjectAddress; owner: string }) {
  const { tenantId, subjectType, subjectId } = subject;
  const list = useList<api.AccessibleSubject>(tenantPath(tenantId, 'accessible-subjects'), {
    subject_type: subjectType,
    subject_id: subjectId,
  });
  return (
    <Section title={TEXT.ours}>
      <p>{TEXT.foreign(owner)}</p>
      <ListTable
        caption={TEXT.ours}
        list={list}
        keyOf={({ grant_id: id }) => id}
        columns={[{ ...GRANTOR, isHeader: true }, MAY_READ, UNTIL, PURPOSE]}
        empty={<p className={ui.quiet}>{TEXT.oursNone}</p>}
      />
    </Section>
  );
}
