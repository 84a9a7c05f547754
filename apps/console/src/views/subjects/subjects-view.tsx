import type { FormEvent, ReactNode } from 'react';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type api, ForbiddenError, type Query } from '@identity-state/client';
import { useTenantId } from '../../app/address.ts';
import { tenantPath, useList } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { changed } from '../../app/search.ts';
import { TEXT } from '../../text/subjects.ts';
import { Button } from '../../ui/button.tsx';
import { CopyCurl } from '../../ui/curl.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { Empty, Loading } from '../../ui/state.tsx';
import { ListTable } from '../../ui/table.tsx';
import ui from '../../ui/ui.module.css';
import { Aside } from './aside.tsx';
import { grantedColumns, ownColumns } from './columns.tsx';
import { meaningsOf } from './find.ts';
import styles from './subjects.module.css';

const ADDRESS = '/signed-in/t/$tenantId/subjects';

/** What the tenant owns, or may read of others: found, filtered, and what of it wants a look. */
export function SubjectsView() {
  const tenantId = useTenantId();
  const { find = '', of } = useSearch({ from: ADDRESS });
  const isGranted = of === 'granted';
  const path = tenantPath(tenantId, isGranted ? 'accessible-subjects' : 'subjects');
  const query = useQueryOfAddress();
  return (
    <Page title={TEXT.title} note={TEXT.note} call={{ method: 'GET', path, query }}>
      <div className={styles.split}>
        <div className={styles.lists}>
          <nav className={ui.tabs} aria-label={TEXT.of}>
            <Tab of={undefined}>{TEXT.own}</Tab>
            <Tab of="granted">{TEXT.granted}</Tab>
          </nav>
          <Filters key={`filters ${find}`} />
          {find !== '' ? (
            <Found key={`found ${find}`} find={find} />
          ) : isGranted ? (
            <Granted query={query} />
          ) : (
            <Own query={query} />
          )}
        </div>
        <Aside />
      </div>
    </Page>
  );
}

function useQueryOfAddress(): Query {
  const { find = '', of, type, evidence } = useSearch({ from: ADDRESS });
  const isGranted = of === 'granted';
  // The service takes no evidence beside what is found.
  if (find === '') return isGranted ? {} : { subject_type: type, evidence };
  return { ...(isGranted ? {} : { subject_type: type }), ...meaningsOf(find)[0]?.query };
}

function Tab({ of, children }: { of: 'granted' | undefined; children: ReactNode }) {
  const tenantId = useTenantId();
  const { find, of: now } = useSearch({ from: ADDRESS });
  return (
    <Link
      to="/t/$tenantId/subjects"
      params={{ tenantId }}
      search={changed({ find, of }, {})}
      className={ui.tab}
      activeProps={{}}
      activeOptions={{ exact: true }}
      aria-current={(now === 'granted') === (of === 'granted') ? 'page' : undefined}
    >
      {children}
    </Link>
  );
}

function Filters() {
  const navigate = useNavigate({ from: '/t/$tenantId/subjects' });
  const search = useSearch({ from: ADDRESS });
  const { find = '', of, type = '', evidence = '' } = search;
  const go = (change: Partial<typeof search>): void => void navigate({ search: changed(search, change) });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const text = new FormData(event.currentTarget).get('find');
    go({ find: typeof text === 'string' ? text.trim() : '' });
  };
  return (
    <form className={styles.filters} onSubmit={submit}>
      <TextField label={TEXT.find} name="find" type="search" defaultValue={find} hint={TEXT.findHint} />
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
    </form>
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
        call={{ method: 'POST', path: tenantPath(tenantId, 'entity-states'), body: firstVersion(new Date()) }}
      />
    </Empty>
  );
}

/** As little as a version needs. */
function firstVersion(now: Date): unknown {
  const at = now.toISOString();
  return {
    envelope_version: 'entity_state_envelope_v1',
    snapshot_id: crypto.randomUUID(),
    snapshot_version: 1,
    generated_at: at,
    subject: { subject_type: 'organization', subject_id: 'example-corp' },
    attributes: { legal: { legal_name: 'Example Corporation' } },
    evidence: [],
    audit: { created_by: 'me', created_at: at, source: 'console' },
  };
}

function Granted({ query }: { query: Query }) {
  const tenantId = useTenantId();
  const list = useList<api.AccessibleSubject>(tenantPath(tenantId, 'accessible-subjects'), query);
  // The message says who can change that.
  if (list.error instanceof ForbiddenError)
    return (
      <Empty title={TEXT.noGrantsUsed}>
        <p>{list.error.message}</p>
      </Empty>
    );
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

/** By each of what the text may mean, own ones and granted ones; of what finds nothing only that all did not. */
function Found({ find }: { find: string }) {
  const tenantId = useTenantId();
  const { of, type } = useSearch({ from: ADDRESS });
  const isGranted = of === 'granted';
  const own = tenantPath(tenantId, 'subjects');
  const [first, second] = meaningsOf(find);
  const byFirst = useList<api.Subject>(isGranted || first === undefined ? null : own, {
    subject_type: type,
    ...first?.query,
  });
  const byId = useList<api.Subject>(isGranted || second === undefined ? null : own, {
    subject_type: type,
    ...second?.query,
  });
  // What others share is not found by id.
  const shared = useList<api.AccessibleSubject>(
    first === undefined || first.kind === 'id' ? null : tenantPath(tenantId, 'accessible-subjects'),
    first?.query,
  );
  const found = new Set(byFirst.items.map(keyOf));
  const onlyById = { ...byId, items: byId.items.filter((one) => !found.has(keyOf(one))) };
  // Whoever may not use grants finds among its own, and reads why where it looks for the others.
  const isRefused = shared.error instanceof ForbiddenError && !isGranted;
  const lists = [byFirst, onlyById, ...(isRefused ? [] : [shared])];
  const isEmpty = lists.every(({ items, isLoading, error }) => items.length === 0 && !isLoading && error === null);
  const titles = { name: TEXT.byName, identifier: TEXT.byIdentifier, id: TEXT.byId };
  const isShown = (list: { items: readonly unknown[]; error: Error | null }): boolean =>
    list.items.length > 0 || list.error !== null;
  return (
    <>
      {lists.some(({ isLoading }) => isLoading) && <Loading />}
      {isEmpty && (
        <Empty title={TEXT.noneFound(find)}>
          <p>{TEXT.noneFoundText}</p>
        </Empty>
      )}
      {first !== undefined && isShown(byFirst) && (
        <FoundOwn title={titles[first.kind]} list={byFirst} tenantId={tenantId} />
      )}
      {second !== undefined && isShown(onlyById) && (
        <FoundOwn title={titles[second.kind]} list={onlyById} tenantId={tenantId} />
      )}
      {!isRefused && isShown(shared) && (
        <section aria-label={TEXT.granted}>
          <h2>{TEXT.granted}</h2>
          <ListTable
            caption={TEXT.captionGranted}
            list={shared}
            keyOf={(one) => `${one.grant_id}/${keyOf(one)}`}
            columns={grantedColumns(tenantId)}
            empty={null}
          />
        </section>
      )}
    </>
  );
}

function FoundOwn({
  title,
  list,
  tenantId,
}: {
  title: string;
  list: ReturnType<typeof useList<api.Subject>>;
  tenantId: string;
}) {
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <ListTable
        caption={`${TEXT.caption}: ${title}`}
        list={list}
        keyOf={keyOf}
        columns={ownColumns(tenantId)}
        empty={null}
      />
    </section>
  );
}

function keyOf({ subject_type: type, subject_id: id }: { subject_type: string; subject_id: string }): string {
  return `${type}/${id}`;
}
