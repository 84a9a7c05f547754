import { useMemo } from 'react';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { type api, type Snapshot, VerificationError } from '@identity-state/client';
import { isJsonObject } from '@iss/domain/pure';
import { type SubjectAddress, useSubject } from '../../app/address.ts';
import { useGet } from '../../app/api.ts';
import { useClient } from '../../app/context.tsx';
import { useWorkerRoom } from '../../app/worker.ts';
import { TEXT } from './words.ts';
import { Select } from '../../ui/field.tsx';
import { FilterField } from '../../forms/filter-field.tsx';
import { Page } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Answer, Badge, Empty, Loading } from '../../ui/state.tsx';
import { Tab } from '../../ui/tab.tsx';
import { Time } from '../../ui/time.tsx';
import { useVersions, VersionChoice, versionOf } from '../../entities/versions.tsx';
import ui from '../../ui/ui.module.css';
import type { Compared, CompareJob } from './compare.worker.ts';
import workerUrl from './compare.worker.ts?worker&url';
import type { Comparison } from './comparison.ts';
import { Changes, SHOWN_STEPS } from '../proposals/changes.tsx';
import { contentOf, type Step } from '../proposals/content.ts';
import { Erased } from '../subject/erased.tsx';
import { Operations } from './operations.tsx';
import { otherPlace, Sides } from './sides.tsx';
import styles from './compare.module.css';

const ROUTE = '/t/$tenantId/subjects/$subjectType/$subjectId/compare';

const SHOWN = ['values', 'sides', 'ops'] as const;
type Show = (typeof SHOWN)[number];

/** The number of values whose evidence is loaded. */
const LEAVES = 1_000;

/** Compares two versions, with the evidence for each change. */
export function CompareView() {
  const subject = useSubject();
  const search = useSearch({ from: `/signed-in${ROUTE}` });
  const navigate = useNavigate();
  const versions = useVersions();
  const { list, latest, access } = versions;
  const to = versionOf(search.to) ?? versions.first;
  const mayList = access?.may('read_lineage') === true;
  // The newest version before the day, or else version 1.
  const { since } = search;
  const basis = search.basis === 'effective' ? 'effective' : 'recorded';
  const before = useGet<api.SnapshotPage>(since === undefined || !mayList ? null : `${subject.path}/history`, {
    to: `${since}T00:00:00Z`,
    basis,
    order: 'desc',
    view: 'header',
    limit: 1,
  });
  const atDay = before.data === undefined ? null : (before.data.items[0]?.snapshot_version ?? 1);
  const step = to === null ? null : Math.max(1, to - 1);
  const from = since === undefined ? (versionOf(search.from) ?? step) : atDay;
  const show = SHOWN.find((one) => one === search.show) ?? 'values';
  const go = (change: { from?: string; to?: string; since?: string; basis?: string }): void =>
    void navigate({ to: ROUTE, params: subject.params, search: { ...search, ...change } });
  const query = { from_version: from ?? 1, to_version: to ?? 1, include: '/attributes' };
  return (
    <Page
      title={TEXT.title(from ?? 1, to ?? 1)}
      note={TEXT.note}
      call={{ method: 'GET', path: `${subject.path}/diff`, query }}
    >
      {before.error !== null && <Problem error={before.error} retry={() => void before.refetch()} />}
      {list.error !== null && <Problem error={list.error} retry={() => void list.refetch()} />}
      {from === null || to === null ? (
        list.error === null && before.error === null && <Loading />
      ) : latest === 1 ? (
        <Empty title={TEXT.one}>
          <p>{TEXT.oneText}</p>
          <Link to="/t/$tenantId/subjects/$subjectType/$subjectId/proposals/new" params={subject.params}>
            {TEXT.propose}
          </Link>
        </Empty>
      ) : (
        <>
          {mayList && (
            <div className={ui.filters}>
              <FilterField type="date" label={TEXT.changesSince} value={since} onChange={(day) => go({ since: day })} />
              <Select
                label={TEXT.basis}
                value={basis}
                options={[
                  { value: 'recorded', label: TEXT.recorded },
                  { value: 'effective', label: TEXT.effective },
                ]}
                onChange={(event) => go({ basis: event.target.value })}
              />
            </div>
          )}
          <div className={styles.choices}>
            <VersionChoice
              label={TEXT.from}
              versions={list.items}
              latest={latest}
              value={from}
              onChange={(version) => go({ from: String(version), to: String(to), since: '' })}
            />
            <VersionChoice
              label={TEXT.to}
              versions={list.items}
              latest={latest}
              value={to}
              onChange={(version) => go({ from: String(from), to: String(version) })}
            />
          </div>
          <nav className={ui.tabs} aria-label={TEXT.show}>
            {SHOWN.map((one) => (
              <Tab
                key={one}
                to={ROUTE}
                params={subject.params}
                search={{ ...search, show: one === 'values' ? '' : one }}
                isCurrent={show === one}
              >
                {TEXT[one]}
              </Tab>
            ))}
          </nav>
          <ComparedVersions subject={subject} versions={versions} from={from} to={to} show={show} />
        </>
      )}
    </Page>
  );
}

function ComparedVersions({
  subject,
  versions: { access, isKnown, receiptOf },
  from,
  to,
  show,
}: {
  subject: SubjectAddress;
  versions: ReturnType<typeof useVersions>;
  from: number;
  to: number;
  show: Show;
}) {
  const receipts = [...new Set([from, to])].map(receiptOf).filter((receipt) => receipt !== null);
  const isAsked = isKnown && receipts.length === 0;
  const before = useVersion(subject, isAsked ? from : null);
  const after = useVersion(subject, isAsked ? to : null);
  const comparison = useComparison(subject, before.data, after.data, { from, to });
  const query = { from_version: from, to_version: to, include: '/attributes' };
  const evidence = useGet<api.VersionDiffResult>(
    from === to || show !== 'sides' || !isAsked || access?.may('read_diff') !== true ? null : `${subject.path}/diff`,
    query,
  );
  const mayTrace = access?.may('read_lineage') === true;
  const provenance = show === 'sides' && isAsked && mayTrace ? `${subject.path}/provenance` : null;
  const leaves = useGet<api.Provenance>(provenance, { version: to, limit: LEAVES });
  if (receipts.length > 0) return receipts.map((receipt) => <Erased key={receipt.snapshot_id} receipt={receipt} />);
  return (
    <>
      {before.error !== null && <Problem error={before.error} retry={() => void before.refetch()} />}
      {after.error !== null && <Problem error={after.error} retry={() => void after.refetch()} />}
      {before.data !== undefined && after.data !== undefined && (
        <>
          <div className={styles.versions}>
            <VersionHead subject={subject} snapshot={before.data.snapshot} />
            <VersionHead subject={subject} snapshot={after.data.snapshot} />
          </div>
          {evidence.error !== null && (
            <div>
              <p>{TEXT.noEvidence}:</p>
              <Problem error={evidence.error} retry={() => void evidence.refetch()} />
            </div>
          )}
          {comparison.isPending && <p role="status">{TEXT.comparing}</p>}
          {!comparison.isPending && (
            <Answer query={comparison}>
              {(data) =>
                data.changes.length === 0 ? (
                  <Empty title={TEXT.same}>
                    <p>{TEXT.sameText}</p>
                  </Empty>
                ) : show === 'values' ? (
                  <ChangedValues before={before.data.snapshot} after={after.data.snapshot} comparison={data} />
                ) : show === 'ops' ? (
                  <Operations comparison={data} name={TEXT.opsName(subject.subjectId, from, to)} />
                ) : (
                  <Sides
                    key={`${from}-${to}`}
                    comparison={data}
                    attribution={evidence.data?.attribution ?? []}
                    leaves={leaves.data?.items ?? []}
                  />
                )
              }
            </Answer>
          )}
        </>
      )}
    </>
  );
}

/** Lists each value that changed, with its evidence. */
function ChangedValues({ before, after, comparison }: { before: Snapshot; after: Snapshot; comparison: Comparison }) {
  const [from, to] = useMemo(() => [contentOf(before.envelope), contentOf(after.envelope)], [before, after]);
  const { changes } = comparison;
  const known = useMemo(() => {
    const steps = changes
      .slice(0, SHOWN_STEPS)
      .map(({ op, path, before: was, value }): Step => ({ op, path, before: was, after: value }));
    return { steps, more: changes.length - steps.length };
  }, [changes]);
  const noteOf = (step: Step): string | null => {
    const change = changes[known.steps.indexOf(step)];
    return change === undefined ? null : otherPlace(comparison, change);
  };
  return <Changes caption={TEXT.values} from={from} to={to} known={known} noteOf={noteOf} />;
}

function VersionHead({
  subject,
  snapshot: { snapshot_version: version, created_at: at, envelope },
}: {
  subject: SubjectAddress;
  snapshot: Snapshot;
}) {
  const audit: unknown = envelope['audit'];
  const who = isJsonObject(audit) && typeof audit['created_by'] === 'string' ? audit['created_by'] : null;
  return (
    <div className={styles.version}>
      <strong>
        <Link
          to="/t/$tenantId/subjects/$subjectType/$subjectId"
          params={subject.params}
          search={{ version: String(version) }}
        >
          {version}
        </Link>
      </strong>{' '}
      <span>
        {TEXT.written} <Time at={at} /> {who !== null && TEXT.by(who)}
      </span>{' '}
      <Link
        to="/t/$tenantId/subjects/$subjectType/$subjectId/proof"
        params={subject.params}
        search={{ version: String(version) }}
      >
        <Badge tone="accent">{TEXT.proof}</Badge>
      </Link>
    </div>
  );
}

/** A version, and its JSON for the worker. */
interface Answered {
  readonly snapshot: Snapshot;
  readonly json: string;
}

/** Reads a version, which never changes. The comparison recomputes its hash. */
function useVersion({ path }: SubjectAddress, version: number | null): UseQueryResult<Answered> {
  const client = useClient();
  return useQuery({
    queryKey: [...path.split('/').slice(1), 'snapshots', version, 'compared'],
    structuralSharing: false,
    queryFn: async ({ signal }) => {
      const snapshot = await client.request<Snapshot>('GET', `${path}/snapshots/${version}`, { signal });
      return { snapshot, json: JSON.stringify(snapshot) };
    },
    enabled: version !== null,
  });
}

function useComparison(
  { path, subjectType, subjectId }: SubjectAddress,
  before: Answered | undefined,
  after: Answered | undefined,
  versions: { readonly from: number; readonly to: number },
): UseQueryResult<Comparison> {
  const worker = useWorkerRoom<CompareJob, never, Compared>(workerUrl);
  return useQuery({
    queryKey: [
      ...path.split('/').slice(1),
      'comparison',
      versions,
      before?.snapshot.envelope_hash,
      after?.snapshot.envelope_hash,
    ],
    enabled: before !== undefined && after !== undefined,
    structuralSharing: false,
    queryFn: async () => {
      const from = { version: versions.from, json: before?.json ?? '' };
      const to = { version: versions.to, json: after?.json ?? '' };
      const compared = await worker.run({ subjectType, subjectId, from, to });
      if (compared.is === 'refused') throw new VerificationError('hash', compared.why);
      return compared.comparison;
    },
  });
}
