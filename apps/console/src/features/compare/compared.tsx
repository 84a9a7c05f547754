import { useMemo } from 'react';
import { Link } from '@tanstack/react-router';
import type { Snapshot } from '@identity-state/client';
import { isJsonObject } from '@iss/domain/pure';
import { OF_SUBJECT, SUBJECT_VIEW, type SubjectAddress } from '../../app/address.ts';
import { apiCall, useGet } from '../../app/api.ts';
import { receiptOfError } from '../../entities/erased.ts';
import { PartNotice, shownPaths } from '../../entities/part.tsx';
import { Correction, type useVersions } from '../../entities/versions.tsx';
import { Fold } from '../../ui/fold.tsx';
import { Loaded, Badge, Empty, Problem } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { Changes, SHOWN_STEPS } from '../proposals/changes.tsx';
import { contentOf, type DraftStep } from '../proposals/draft/content.ts';
import { ErasedNotice } from '../subject/erased.tsx';
import type { Comparison } from './comparison.ts';
import { Operations } from './operations.tsx';
import { otherPlace, Sides } from './sides.tsx';
import { type ReadVersion, useComparison, useReadVersion } from './use-comparison.ts';
import { TEXT } from './words.ts';
import styles from './compare.module.css';

/** The number of values whose evidence is loaded. */
const LEAVES = 1_000;

export type ComparisonForm = 'values' | 'sides' | 'ops';

interface ComparedProps {
  subject: SubjectAddress;
  versions: ReturnType<typeof useVersions>;
  from: number;
  to: number;
  form: ComparisonForm;
}

/** Reads, verifies and compares two versions. An erased version is shown by its receipt. */
export function ComparedVersions({ subject, versions: { isKnown, receiptOf, access }, ...rest }: ComparedProps) {
  const { from, to } = rest;
  const listed = [from, to].map(receiptOf);
  const isRead = isKnown && listed.every((receipt) => receipt === null);
  const before = useReadVersion(subject, isRead ? from : null);
  const after = useReadVersion(subject, isRead ? to : null);
  const erased = [...listed, receiptOfError(before.error), receiptOfError(after.error)].filter((one) => one !== null);
  const receipts = new Map(erased.map((receipt) => [receipt.snapshot_id, receipt]));
  if (receipts.size > 0)
    return [...receipts.values()].map((one) => <ErasedNotice key={one.snapshot_id} receipt={one} />);
  return (
    <>
      {before.error !== null && <Problem error={before.error} retry={() => void before.refetch()} />}
      {after.error !== null && <Problem error={after.error} retry={() => void after.refetch()} />}
      {before.data !== undefined && after.data !== undefined && (
        <Result subject={subject} access={access} before={before.data} after={after.data} {...rest} />
      )}
    </>
  );
}

interface ResultProps extends Omit<ComparedProps, 'versions'> {
  access: ReturnType<typeof useVersions>['access'];
  before: ReadVersion;
  after: ReadVersion;
}

function Result({ subject, access, from, to, form, before, after }: ResultProps) {
  const comparison = useComparison(subject, before, after, { from, to });
  const isBeside = form === 'sides';
  const { ids: path } = subject;
  const query = { from_version: from, to_version: to, include: '/attributes' };
  const mayDiff = isBeside && from !== to && access?.may('read_diff') === true;
  const diff = useGet(mayDiff ? apiCall('GET', `${OF_SUBJECT}/diff`, { path, query }) : null);
  const mayTrace = isBeside && access?.may('read_lineage') === true;
  const leaves = useGet(
    mayTrace ? apiCall('GET', `${OF_SUBJECT}/provenance`, { path, query: { version: to, limit: LEAVES } }) : null,
  );
  const both = [before.snapshot, after.snapshot];
  const isPart = both.some((snapshot) => shownPaths(snapshot) !== null);
  return (
    <>
      <PartNotice of={both} />
      <Fold title={TEXT.bothVersions}>
        <div className={styles.versions}>
          <VersionHead subject={subject} snapshot={before.snapshot} />
          <VersionHead subject={subject} snapshot={after.snapshot} />
        </div>
      </Fold>
      {diff.error !== null && (
        <div>
          <p>{TEXT.noEvidence}:</p>
          <Problem error={diff.error} retry={() => void diff.refetch()} />
        </div>
      )}
      {comparison.isPending ? (
        <p role="status">{TEXT.comparing}</p>
      ) : (
        <Loaded query={comparison}>
          {(data) =>
            data.changes.length === 0 ? (
              <Empty title={isPart ? TEXT.samePart : TEXT.same} text={isPart ? TEXT.samePartText : TEXT.sameText} />
            ) : form === 'values' ? (
              <ChangedValues before={before.snapshot} after={after.snapshot} comparison={data} />
            ) : form === 'ops' ? (
              <Operations changes={data.changes} name={TEXT.opsName(subject.subjectId, from, to)} />
            ) : (
              <Sides
                key={`${from}-${to}`}
                comparison={data}
                attribution={diff.data?.attribution ?? []}
                leaves={leaves.data?.items ?? []}
              />
            )
          }
        </Loaded>
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
      .map(({ op, path, before: was, value }): DraftStep => ({ op, path, before: was, after: value }));
    return { steps, more: changes.length - steps.length };
  }, [changes]);
  const noteOf = (step: DraftStep): string | null => {
    const change = changes[known.steps.indexOf(step)];
    return change === undefined ? null : otherPlace(changes, change);
  };
  return <Changes caption={TEXT.values} from={from} to={to} known={known} noteOf={noteOf} />;
}

function VersionHead({ subject: { params }, snapshot }: { subject: SubjectAddress; snapshot: Snapshot }) {
  const { snapshot_version: version, created_at: at, envelope } = snapshot;
  const audit: unknown = envelope['audit'];
  const who = isJsonObject(audit) && typeof audit['created_by'] === 'string' ? audit['created_by'] : null;
  const search = { version: String(version) };
  return (
    <div className={styles.version}>
      <strong>
        <Link to={SUBJECT_VIEW} params={params} search={search}>
          {version}
        </Link>
      </strong>{' '}
      <span>
        {TEXT.written} <Time at={at} /> {who !== null && TEXT.by(who)} <Correction of={snapshot} />
      </span>{' '}
      <Link to={`${SUBJECT_VIEW}/proof`} params={params} search={search}>
        <Badge tone="accent">{TEXT.proof}</Badge>
      </Link>
    </div>
  );
}
