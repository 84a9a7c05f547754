import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { api, Query } from '@identity-state/client';
import { useTenantId } from '../../app/address.ts';
import { tenantPath, useList } from '../../app/api.ts';
import { useMay, useMayUseGrants } from '../../app/rights.ts';
import { changed } from '../../app/search.ts';
import { TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { CopyCurl } from '../../ui/curl.tsx';
import { Select } from '../../ui/field.tsx';
import { FilterField } from '../../forms/filter-field.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/state.tsx';
import { Tab } from '../../ui/tab.tsx';
import { ListTable } from '../../ui/table/table.tsx';
import ui from '../../ui/ui.module.css';
import { Found } from '../search/found.tsx';
import { meaningsOf } from '../search/meanings.ts';
import { OfferedGrants } from '../tenants/offered-grants.tsx';
import { Aside } from './aside.tsx';
import { grantedColumns, keyOf, ownColumns } from './columns.tsx';
import { firstVersion } from './first-version.ts';
import { NoGrantsUsed } from './no-grants-used.tsx';
import styles from './subjects.module.css';

const NewSubject = lazy(async () => ({ default: (await import('./new-subject.tsx')).NewSubject }));
const ImportSubjects = lazy(async () => ({ default: (await import('./new-subject.tsx')).ImportSubjects }));

const ADDRESS = '/signed-in/t/$tenantId/subjects';
const EXAMPLE = { type: 'organization', subjectId: 'example-corp', name: 'Example Corporation', by: 'me' } as const;

/** Finds and filters the tenant's own subjects, or those that others share with it. */
export function SubjectsView() {
  const tenantId = useTenantId();
  const { find = '', of } = useSearch({ from: ADDRESS });
  const isGranted = of === 'granted';
  const path = tenantPath(tenantId, isGranted ? 'accessible-subjects' : 'subjects');
  const query = useQueryOfAddress();
  return (
    <Page
      title={TEXT.title}
      note={TEXT.note}
      actions={<Make tenantId={tenantId} />}
      call={{ method: 'GET', path, query }}
    >
      <div className={styles.split}>
        <div className={styles.lists}>
          <nav className={ui.tabs} aria-label={TEXT.of}>
            <Of of={undefined}>{TEXT.own}</Of>
            <Of of="granted">{TEXT.granted}</Of>
          </nav>
          <Filters />
          {find !== '' ? (
            <Found find={find} />
          ) : isGranted ? (
            <>
              <OfferedGrants tenantId={tenantId} />
              <Granted query={query} />
            </>
          ) : (
            <Own query={query} />
          )}
        </div>
        <Aside />
      </div>
    </Page>
  );
}

/** Creates and imports subjects, if the role allows it. */
function Make({ tenantId }: { tenantId: string }) {
  const may = useMay(tenantId);
  const [open, setOpen] = useState<'create' | 'import' | null>(null);
  const close = (): void => setOpen(null);
  if (!may('POST /v1/tenants/{tenant_id}/entity-states, the subject is new')) return null;
  return (
    <>
      <Button kind="primary" onClick={() => setOpen('create')}>
        {TEXT.make.title}
      </Button>
      <Button onClick={() => setOpen('import')}>{TEXT.make.importTitle}</Button>
      <Suspense>
        {open === 'create' && <NewSubject tenantId={tenantId} onClose={close} />}
        {open === 'import' && <ImportSubjects tenantId={tenantId} onClose={close} />}
      </Suspense>
    </>
  );
}

function useQueryOfAddress(): Query {
  const { find = '', of, type, evidence } = useSearch({ from: ADDRESS });
  const isGranted = of === 'granted';
  // The service accepts no evidence filter together with a search.
  if (find === '') return isGranted ? {} : { subject_type: type, evidence };
  return { ...(isGranted ? {} : { subject_type: type }), ...meaningsOf(find)[0]?.query };
}

function Of({ of, children }: { of: 'granted' | undefined; children: ReactNode }) {
  const tenantId = useTenantId();
  const { find, of: now } = useSearch({ from: ADDRESS });
  return (
    <Tab
      to="/t/$tenantId/subjects"
      params={{ tenantId }}
      search={changed({ find, of }, {})}
      isCurrent={(now === 'granted') === (of === 'granted')}
    >
      {children}
    </Tab>
  );
}

function Filters() {
  const navigate = useNavigate({ from: '/t/$tenantId/subjects' });
  const search = useSearch({ from: ADDRESS });
  const { find = '', of, type = '', evidence = '' } = search;
  const go = (change: Partial<typeof search>): void =>
    void navigate({ search: changed(search, change), replace: true });
  return (
    <div className={styles.filters} role="group" aria-label={TEXT.find}>
      <FilterField label={TEXT.find} value={find} hint={TEXT.findHint} onChange={(text) => go({ find: text.trim() })} />
      {of !== 'granted' && (
        <Select
          label={TEXT.type}
          value={type}
          options={[
            { value: '', label: TEXT.everyType },
            ...Object.entries(TEXT.types).map(([value, label]) => ({ value, label })),
          ]}
          onChange={(event) => go({ type: event.target.value })}
        />
      )}
      {of !== 'granted' && find === '' && (
        <Select
          label={TEXT.evidence}
          value={evidence}
          options={[
            { value: '', label: TEXT.anyEvidence },
            { value: 'missing', label: TEXT.missing },
            { value: 'carried', label: TEXT.carried },
          ]}
          onChange={(event) => go({ evidence: event.target.value })}
        />
      )}
      {(find !== '' || type !== '' || evidence !== '') && (
        <Button onClick={() => go({ find: '', type: '', evidence: '' })}>{TEXT.clear}</Button>
      )}
    </div>
  );
}

function Own({ query }: { query: Query }) {
  const tenantId = useTenantId();
  const list = useList<api.Subject>(tenantPath(tenantId, 'subjects'), query);
  const isFiltered = Object.values(query).some((value) => value !== undefined);
  return (
    <ListTable
      caption={TEXT.caption}
      list={list}
      keyOf={keyOf}
      columns={ownColumns(tenantId)}
      empty={isFiltered ? <Empty title={TEXT.noneOfFilter} /> : <NoSubject />}
    />
  );
}

function NoSubject() {
  const tenantId = useTenantId();
  const may = useMay(tenantId);
  if (!may('POST /v1/tenants/{tenant_id}/entity-states, the subject is new'))
    return (
      <Empty title={TEXT.none}>
        <p>{TEXT.noneReader}</p>
      </Empty>
    );
  return (
    <Empty title={TEXT.none}>
      <p>{TEXT.noneText}</p>
      <CopyCurl
        call={{
          method: 'POST',
          path: tenantPath(tenantId, 'entity-states'),
          body: firstVersion(EXAMPLE, new Date()),
        }}
      />
    </Empty>
  );
}

function Granted({ query }: { query: Query }) {
  const tenantId = useTenantId();
  const mayUse = useMayUseGrants(tenantId);
  const path = tenantPath(tenantId, 'accessible-subjects');
  const list = useList<api.AccessibleSubject>(mayUse === true ? path : null, query);
  if (mayUse === false) return <NoGrantsUsed />;
  return (
    <ListTable
      caption={TEXT.captionGranted}
      list={list}
      keyOf={(one) => `${one.grant_id}/${keyOf(one)}`}
      columns={grantedColumns(tenantId)}
      empty={
        <Empty title={TEXT.noneGranted}>
          <p>
            {TEXT.noneGrantedText} <code>{tenantId}</code>.
          </p>
        </Empty>
      }
    />
  );
}
