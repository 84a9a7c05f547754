import { lazy, type ReactNode, Suspense } from 'react';
import { useTenantId } from '../../app/address.ts';
import { apiCall } from '../../app/api.ts';
import { useMay, useMayUseGrants } from '../../app/rights.ts';
import { keyOfSubject, NoGrantsUsed, SUBJECT, SUBJECTS_AT_ONCE } from '../../entities/subject.tsx';
import { ChoiceFilter, FilterField, keyIn, useFilters } from '../../forms/filters.tsx';
import { List } from '../../forms/list-page.tsx';
import { DialogButton } from '../../forms/row-actions.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyCurl } from '../../ui/copy.tsx';
import { Tab } from '../../ui/link.tsx';
import { Loading, Page } from '../../ui/page.tsx';
import { meaningsOf } from '../search/meanings.ts';
import { OfferedGrants } from '../tenants/offered-grants.tsx';
import ui from '../../ui/ui.module.css';
import { grantedColumns, ownColumns } from './columns.tsx';
import { firstVersionCall } from './first-version.ts';
import { RecentChanges } from './recent-changes.tsx';
import { TEXT } from './words.ts';
import styles from './styles.module.css';

const Found = lazy(async () => ({ default: (await import('../search/found.tsx')).SearchResults }));
const NewSubject = lazy(async () => ({ default: (await import('./dialogs.tsx')).NewSubject }));
const ImportSubjects = lazy(async () => ({ default: (await import('./dialogs.tsx')).ImportSubjects }));

const CREATE = 'POST /v1/tenants/{tenant_id}/entity-states, the subject is new';
const EVIDENCE = { missing: TEXT.missing, carried: TEXT.carried };
const EXAMPLE = { type: 'organization', subjectId: 'example-corp', name: 'Example Corporation', by: 'me' } as const;

/** Finds and filters the tenant's own subjects, or those that others share with it. */
export function SubjectsView() {
  const tenantId = useTenantId();
  const { find = '', of } = useFilters().search;
  const isGranted = of === 'granted';
  const calls = useCalls();
  return (
    <Page
      title={TEXT.title}
      note={TEXT.note}
      actions={<Make tenantId={tenantId} />}
      call={isGranted ? calls.granted : calls.own}
    >
      <div className={styles.split}>
        <div className={styles.lists}>
          <nav className={ui.tabs} aria-label={TEXT.of}>
            <Of of={undefined}>{TEXT.own}</Of>
            <Of of="granted">{TEXT.granted}</Of>
          </nav>
          <SubjectFilters />
          {find !== '' ? (
            <Suspense fallback={<Loading />}>
              <Found find={find} />
            </Suspense>
          ) : isGranted ? (
            <>
              <OfferedGrants tenantId={tenantId} />
              <Granted />
            </>
          ) : (
            <Own />
          )}
        </div>
        <RecentChanges />
      </div>
    </Page>
  );
}

/** Creates and imports subjects, if the role allows it. */
function Make({ tenantId }: { tenantId: string }) {
  const may = useMay(tenantId);
  if (!may(CREATE)) return null;
  return (
    <>
      <DialogButton kind="primary" label={TEXT.make.title}>
        {(close) => (
          <Suspense>
            <NewSubject tenantId={tenantId} onClose={close} />
          </Suspense>
        )}
      </DialogButton>
      <DialogButton label={TEXT.make.importTitle}>
        {(close) => (
          <Suspense>
            <ImportSubjects tenantId={tenantId} onClose={close} />
          </Suspense>
        )}
      </DialogButton>
    </>
  );
}

/** Returns the calls of both lists, as the address filters them. */
function useCalls() {
  const { find = '', type, evidence } = useFilters().search;
  const path = { tenant_id: useTenantId() };
  // The service accepts no evidence filter together with a search.
  const [first] = find === '' ? [] : meaningsOf(find);
  const search = find === '' ? { evidence: keyIn(EVIDENCE, evidence) } : first?.query;
  return {
    own: apiCall('GET', '/v1/tenants/{tenant_id}/subjects', {
      path,
      query: { subject_type: keyIn(SUBJECT.types, type), ...search, limit: SUBJECTS_AT_ONCE },
    }),
    granted: apiCall('GET', '/v1/tenants/{tenant_id}/accessible-subjects', {
      path,
      query: { q: first?.query.q, identifier: first?.query.identifier },
    }),
  };
}

function Of({ of, children }: { of: 'granted' | undefined; children: ReactNode }) {
  const tenantId = useTenantId();
  const { find = '', of: current } = useFilters().search;
  return (
    <Tab
      to="/t/$tenantId/subjects"
      params={{ tenantId }}
      search={{ find, ...(of === undefined ? {} : { of }) }}
      isCurrent={(current === 'granted') === (of === 'granted')}
    >
      {children}
    </Tab>
  );
}

function SubjectFilters() {
  const { search, set } = useFilters();
  const { find = '', of, type, evidence } = search;
  const isFiltered = find !== '' || type !== undefined || evidence !== undefined;
  return (
    <div className={styles.filters} role="group" aria-label={TEXT.find}>
      <FilterField
        label={TEXT.find}
        value={find}
        hint={TEXT.findHint}
        onChange={(text) => set({ find: text.trim() })}
      />
      {of !== 'granted' && (
        <ChoiceFilter name="type" label={SUBJECT.type} options={{ '': TEXT.everyType, ...SUBJECT.types }} />
      )}
      {of !== 'granted' && find === '' && (
        <ChoiceFilter name="evidence" label={TEXT.evidence} options={{ '': TEXT.anyEvidence, ...EVIDENCE }} />
      )}
      {isFiltered && <Button onClick={() => set({ find: '', type: '', evidence: '' })}>{TEXT.clear}</Button>}
    </div>
  );
}

function Own() {
  const tenantId = useTenantId();
  const may = useMay(tenantId);
  const call = useCalls().own;
  const isFiltered = Object.entries(call.query ?? {}).some(([name, value]) => name !== 'limit' && value !== undefined);
  const example = <CopyCurl call={firstVersionCall(tenantId, EXAMPLE)} />;
  const none = may(CREATE)
    ? { title: TEXT.none, text: TEXT.noneText, children: example }
    : { title: TEXT.none, text: TEXT.noneReader };
  return (
    <List
      caption={TEXT.caption}
      call={call}
      keyOf={keyOfSubject}
      columns={ownColumns(tenantId)}
      empty={isFiltered ? { title: TEXT.noneOfFilter } : none}
    />
  );
}

function Granted() {
  const tenantId = useTenantId();
  const mayUse = useMayUseGrants(tenantId);
  const { granted } = useCalls();
  if (mayUse === false) return <NoGrantsUsed />;
  const text = (
    <>
      {TEXT.noneGrantedText} <code>{tenantId}</code>.
    </>
  );
  return (
    <List
      caption={TEXT.captionGranted}
      call={mayUse === true ? granted : null}
      keyOf={(one) => `${one.grant_id}/${keyOfSubject(one)}`}
      columns={grantedColumns(tenantId)}
      empty={{ title: TEXT.noneGranted, text }}
    />
  );
}
