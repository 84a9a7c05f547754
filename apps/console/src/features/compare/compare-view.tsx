import { useState } from 'react';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { OF_SUBJECT, SUBJECT_VIEW, useSubject } from '../../app/address.ts';
import { apiCall, useGet } from '../../app/api.ts';
import { useVersions, VersionChoice, versionOf } from '../../entities/versions.tsx';
import { FilterField } from '../../forms/filters.tsx';
import { Select } from '../../ui/field.tsx';
import { Fold, FoldedNote } from '../../ui/fold.tsx';
import { Tab } from '../../ui/link.tsx';
import { Empty, Loading, Page, Problem } from '../../ui/page.tsx';
import ui from '../../ui/ui.module.css';
import { ComparedVersions, type ComparisonForm } from './compared.tsx';
import { Differences } from './differences.tsx';
import { TEXT } from './words.ts';
import styles from './compare.module.css';

const ROUTE = `${SUBJECT_VIEW}/compare`;
const FORMS: readonly ComparisonForm[] = ['values', 'sides', 'ops'];

/** Compares two versions, with the evidence for each change. */
export function CompareView() {
  const subject = useSubject();
  const { show } = useSearch({ from: `/signed-in${ROUTE}` });
  const versions = useVersions();
  const { from, to, latest, queries } = useChosenVersions(versions);
  const mayRead = versions.access?.may('read_lineage', 'read_snapshot_by_id') !== false;
  const form = FORMS.find((one) => one === show) ?? 'values';
  const failed = queries.filter(({ error }) => error !== null);
  const query = { from_version: from ?? 1, to_version: to ?? 1, include: '/attributes' };
  const call = apiCall('GET', `${OF_SUBJECT}/diff`, { path: subject.ids, query });
  return (
    <Page
      title={TEXT.title(from ?? 1, to ?? 1)}
      note={mayRead ? <FoldedNote>{TEXT.note}</FoldedNote> : undefined}
      call={call}
    >
      {failed.map(({ error, refetch }, index) => error && <Problem key={index} error={error} retry={refetch} />)}
      {from === null || to === null ? (
        failed.length === 0 && <Loading />
      ) : latest === 1 ? (
        <OneVersion />
      ) : (
        <>
          <Choices versions={versions} latest={latest} from={from} to={to} />
          {mayRead ? (
            <>
              <Forms form={form} />
              <ComparedVersions subject={subject} versions={versions} from={from} to={to} form={form} />
            </>
          ) : (
            <Differences subject={subject} from={from} to={to} />
          )}
        </>
      )}
    </Page>
  );
}

interface Failing {
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

interface Chosen {
  /** Null while unknown. */
  readonly from: number | null;
  readonly to: number | null;
  readonly latest: number | null;
  readonly queries: readonly Failing[];
}

/** Returns the versions of the address. By default, the latest version is compared with the previous one, or with that of a day. */
function useChosenVersions({ list, first, latest: listed, access }: ReturnType<typeof useVersions>): Chosen {
  const { ids } = useSubject();
  const { since, basis, ...search } = useSearch({ from: `/signed-in${ROUTE}` });
  const [now] = useState(() => new Date().toISOString());
  // A difference up to now names the latest version for a caller that may read only differences.
  const isBlind = access?.may('read_lineage', 'read_snapshot_by_id', 'read_latest') === false;
  const upToNow = { from_version: 1, as_of: now, include: '/subject', include_attribution: 'none' } as const;
  const newest = useGet(isBlind ? apiCall('GET', `${OF_SUBJECT}/diff`, { path: ids, query: upToNow }) : null);
  const latest = isBlind ? (newest.data?.to.snapshot_version ?? null) : listed;
  const to = versionOf(search.to) ?? (isBlind ? latest : first);
  const mayList = access?.may('read_lineage') === true;
  const query = {
    to: `${since}T00:00:00Z`,
    basis: basisOf(basis),
    order: 'desc',
    view: 'header',
    limit: 1,
  } as const;
  const before = useGet(
    since === undefined || !mayList ? null : apiCall('GET', `${OF_SUBJECT}/history`, { path: ids, query }),
  );
  // The newest version before the day, or else version 1.
  const atDay = before.data === undefined ? null : (before.data.items[0]?.snapshot_version ?? 1);
  const previous = to === null ? null : Math.max(1, to - 1);
  const from = since === undefined ? (versionOf(search.from) ?? previous) : atDay;
  return { from, to, latest, queries: [before, list, newest] };
}

function basisOf(text: string | undefined): 'effective' | 'recorded' {
  return text === 'effective' ? 'effective' : 'recorded';
}

function OneVersion() {
  const { params } = useSubject();
  return (
    <Empty title={TEXT.one} text={TEXT.oneText}>
      <Link to={`${SUBJECT_VIEW}/proposals/new`} params={params}>
        {TEXT.propose}
      </Link>
    </Empty>
  );
}

interface ChoicesProps {
  versions: ReturnType<typeof useVersions>;
  latest: number | null;
  from: number;
  to: number;
}

/** Chooses both versions, or a day whose version is the first of them. */
function Choices({ versions: { list, access }, latest, from, to }: ChoicesProps) {
  const { params } = useSubject();
  const search = useSearch({ from: `/signed-in${ROUTE}` });
  const navigate = useNavigate();
  const go = (change: Partial<typeof search>): void =>
    void navigate({ to: ROUTE, params, search: { ...search, ...change } });
  const both = { versions: list.items, latest };
  return (
    <>
      {access?.may('read_lineage') === true && (
        <Fold title={TEXT.changesSince} isOpen={search.since !== undefined}>
          <div className={ui.filters}>
            <FilterField
              type="date"
              label={TEXT.changesSince}
              value={search.since}
              onChange={(since) => go({ since })}
            />
            <Select
              label={TEXT.basis}
              value={basisOf(search.basis)}
              options={[
                { value: 'recorded', label: TEXT.recorded },
                { value: 'effective', label: TEXT.effective },
              ]}
              onChange={(event) => go({ basis: event.target.value })}
            />
          </div>
        </Fold>
      )}
      <div className={styles.choices}>
        <VersionChoice
          {...both}
          label={TEXT.from}
          value={from}
          onChange={(version) => go({ from: String(version), to: String(to), since: '' })}
        />
        <VersionChoice
          {...both}
          label={TEXT.to}
          value={to}
          onChange={(version) => go({ from: String(from), to: String(version) })}
        />
      </div>
    </>
  );
}

function Forms({ form }: { form: ComparisonForm }) {
  const { params } = useSubject();
  const search = useSearch({ from: `/signed-in${ROUTE}` });
  return (
    <nav className={ui.tabs} aria-label={TEXT.show}>
      {FORMS.map((one) => (
        <Tab
          key={one}
          to={ROUTE}
          params={params}
          search={{ ...search, show: one === 'values' ? '' : one }}
          isCurrent={form === one}
        >
          {TEXT[one]}
        </Tab>
      ))}
    </nav>
  );
}
