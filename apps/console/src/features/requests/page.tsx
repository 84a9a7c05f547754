import { useSubject, useTenantId } from '../../app/address.ts';
import { apiCall } from '../../app/api.ts';
import { useMay, useMayUseGrants } from '../../app/rights.ts';
import { useSubjectAccess } from '../../entities/subject-access.ts';
import { ChoiceFilter, keyIn, useFilters } from '../../forms/filters.tsx';
import { DialogButton } from '../../forms/row-actions.tsx';
import { Button } from '../../ui/button.tsx';
import { Tab } from '../../ui/link.tsx';
import { Loaded, Page } from '../../ui/page.tsx';
import ui from '../../ui/ui.module.css';
import { AskForm } from './ask-form.tsx';
import { ChooseSubject } from './choose-subject.tsx';
import { RequestTable } from './request-table.tsx';
import { TEXT } from './words.ts';

const REQUESTS = '/v1/subjects/{subject_type}/{subject_id}/refresh-requests';
const DIRECTIONS = ['incoming', 'outgoing'] as const;

/** Lists the requests that a tenant received and sent. By default it lists pending ones. */
export function RequestsView() {
  const tenantId = useTenantId();
  const { search } = useFilters();
  const direction = search['direction'] === 'outgoing' ? 'outgoing' : 'incoming';
  const status = keyIn(TEXT.statuses, search['status'] ?? 'pending');
  const call = apiCall('GET', '/v1/tenants/{tenant_id}/refresh-requests', {
    path: { tenant_id: tenantId },
    query: { direction, status, subject_type: keyIn(TEXT.types, search['type']) },
  });
  const may = useMay(tenantId);
  const mayAsk = useMayUseGrants(tenantId) === true && may(`POST ${REQUESTS}`);
  return (
    <Page
      title={TEXT.title}
      note={TEXT.notes[direction]}
      actions={
        mayAsk && (
          <DialogButton label={TEXT.ask}>
            {(close) => <ChooseSubject tenantId={tenantId} onClose={close} />}
          </DialogButton>
        )
      }
      call={call}
    >
      <nav className={ui.tabs} aria-label={TEXT.direction}>
        {DIRECTIONS.map((one) => (
          <Tab
            key={one}
            to="/t/$tenantId/requests"
            params={{ tenantId }}
            search={{ ...search, direction: one }}
            isCurrent={direction === one}
          >
            {TEXT.directions[one]}
          </Tab>
        ))}
      </nav>
      <RequestTable
        tenantId={tenantId}
        call={call}
        filters={
          <>
            <ChoiceFilter name="status" label={TEXT.status} options={{ ...TEXT.statuses, all: TEXT.everyStatus }} />
            <ChoiceFilter name="type" label={TEXT.type} options={{ '': TEXT.everyType, ...TEXT.types }} />
          </>
        }
        isOwner={direction === 'incoming'}
        withSubject
        empty={direction === 'incoming' ? TEXT.noneIncoming : TEXT.noneOutgoing}
      />
    </Page>
  );
}

/** Lists the requests for a subject: all of them for its owner, else the tenant's own. */
export function SubjectRequestsView() {
  const { tenantId, subjectId, ids } = useSubject();
  const { subject_type, subject_id } = ids;
  const { search, set } = useFilters();
  const may = useMay(tenantId);
  const access = useSubjectAccess();
  const isOwner = access.data?.isOwner === true;
  const call = apiCall('GET', REQUESTS, {
    path: { subject_type, subject_id },
    query: isOwner ? {} : { requesting_tenant_id: tenantId },
  });
  const isAsking = search['ask'] !== undefined;
  const mayAsk = access.data?.isFound === true && may(`POST ${REQUESTS}`);
  return (
    <Page
      title={TEXT.titleOf(subjectId)}
      actions={
        mayAsk &&
        !isAsking && (
          <Button kind="primary" onClick={() => set({ ask: 'yes', path: '' })}>
            {TEXT.ask}
          </Button>
        )
      }
      call={call}
    >
      {mayAsk && isAsking && <AskForm path={search['path']} onClose={() => set({ ask: '', path: '' })} />}
      <Loaded query={access}>
        {() => (
          <RequestTable
            tenantId={tenantId}
            call={call}
            isOwner={isOwner}
            withSubject={false}
            empty={TEXT.noneOfSubject}
          />
        )}
      </Loaded>
    </Page>
  );
}
