import { useMemo, useState } from 'react';
import { useSearch } from '@tanstack/react-router';
import type { SubjectType } from '@identity-state/client';
import { OF_SUBJECT, type SubjectAddress, useSubject } from '../../app/address.ts';
import { apiCall, useGet, useList, useWholeList } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import {
  GRANTOR,
  isOnAll,
  isRunning,
  MAY_READ,
  MOST_GRANTS,
  PURPOSE,
  grantStatusOf,
  UNTIL,
} from '../../entities/grant.tsx';
import { DialogButton } from '../../forms/row-actions.tsx';
import { Checkbox } from '../../ui/field.tsx';
import { Loaded, Empty, Notice, Page, Section } from '../../ui/page.tsx';
import { ListTable } from '../../ui/table/table.tsx';
import ui from '../../ui/ui.module.css';
import { DisclosureCount, MapProofButton } from './absence.tsx';
import { Access } from './access.tsx';
import { DisclosureList } from './disclosures.tsx';
import { GrantTable } from './grant-table.tsx';
import { MakeGrants } from './make/make-grants.tsx';
import { TEXT } from './words.ts';

const ROUTE = '/signed-in/t/$tenantId/subjects/$subjectType/$subjectId/sharing';

/** Shows which other tenants may read a subject, could read it at any moment, and have read it. */
export function SubjectSharingView() {
  const subject = useSubject();
  const { tenantId, subjectType, subjectId, ids } = subject;
  const ownersCall = apiCall('GET', `${OF_SUBJECT}/owners`, { path: ids });
  const owners = useGet(ownersCall);
  const may = useMay(tenantId);
  const owner = owners.data?.items[0]?.owner_tenant_id;
  const isOwn = owner === tenantId;
  return (
    <Page
      title={TEXT.subjectTitle}
      note={TEXT.subjectNote(subjectId)}
      call={isOwn || owner === undefined ? apiCall('GET', `${OF_SUBJECT}/grants`, { path: ids }) : ownersCall}
      actions={
        isOwn &&
        may('POST /v1/tenants/{tenant_id}/grants') && (
          <DialogButton kind="primary" label={TEXT.grant}>
            {(close) => <MakeGrants tenantId={tenantId} subject={`${subjectType}/${subjectId}`} onClose={close} />}
          </DialogButton>
        )
      }
    >
      <Loaded query={owners}>
        {() => (isOwn ? <Own subject={subject} /> : <Foreign subject={subject} owner={owner ?? ''} />)}
      </Loaded>
    </Page>
  );
}

function Own({ subject }: { subject: SubjectAddress }) {
  const { ids, path } = subject;
  const { from, to, grantee } = useSearch({ from: ROUTE });
  const disclosures = useMemo(() => {
    const query = { from, to, grantee_tenant_id: grantee, limit: 200 };
    return apiCall('GET', `${OF_SUBJECT}/disclosures`, { path: ids, query });
  }, [path, from, to, grantee]);
  const complete = useMemo(
    () => (
      <MapProofButton label={TEXT.proving.complete}>
        {(close) => <DisclosureCount subject={subject} onClose={close} />}
      </MapProofButton>
    ),
    [path],
  );
  const may = useMay(subject.tenantId);
  const isAdmin = may('GET /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/access-history');
  return (
    <>
      <Readers subject={subject} isAdmin={isAdmin} />
      {isAdmin ? (
        <>
          <Access subject={subject} />
          <DisclosureList readerId={null} call={disclosures} actions={complete} words={TEXT.did} />
        </>
      ) : (
        <Notice>{TEXT.adminOnly}</Notice>
      )}
    </>
  );
}

/** Lists the grants on a subject, live ones first. */
function Readers({ subject, isAdmin }: { subject: SubjectAddress; isAdmin: boolean }) {
  const { tenantId, subjectType, subjectId, ids } = subject;
  const [isAll, setAll] = useState(false);
  const issued = (query: { subject_type: '*' | SubjectType; subject_id?: string }) =>
    apiCall('GET', '/v1/tenants/{tenant_id}/grants', {
      path: { tenant_id: tenantId },
      query: { ...query, limit: 100 },
    });
  const list = useWholeList(
    isAdmin
      ? apiCall('GET', `${OF_SUBJECT}/grants`, { path: ids, query: { limit: MOST_GRANTS } })
      : issued({ subject_type: subjectType, subject_id: subjectId }),
    MOST_GRANTS,
  );
  const onAll = useWholeList(isAdmin ? null : issued({ subject_type: '*' }), MOST_GRANTS);
  const grants = isAdmin ? list.items : [...onAll.items.filter(isOnAll), ...list.items];
  const live = grants.filter(({ status }) => status === 'active');
  const running = [...live, ...grants.filter(({ status }) => status === 'scheduled')];
  const over = grants.filter((grant) => !isRunning(grant));
  const visible = isAll ? [...running, ...over] : running;
  return (
    <Section
      title={TEXT.who}
      actions={
        over.length > 0 && <Checkbox label={TEXT.over(over.length)} checked={isAll} onChange={() => setAll(!isAll)} />
      }
    >
      <Loaded query={list}>
        {() => (
          <>
            <p>
              {TEXT.whoSummary(
                live.length,
                live.filter((grant) => grantStatusOf(grant) === 'expiring').length,
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
      </Loaded>
    </Section>
  );
}

/** Shows this tenant's access to a subject of another tenant. */
function Foreign({ subject, owner }: { subject: SubjectAddress; owner: string }) {
  const { tenantId, subjectType, subjectId } = subject;
  const list = useList(
    apiCall('GET', '/v1/tenants/{tenant_id}/accessible-subjects', {
      path: { tenant_id: tenantId },
      query: { subject_type: subjectType, subject_id: subjectId },
    }),
  );
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
