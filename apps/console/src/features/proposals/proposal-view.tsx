import { useMemo, useState } from 'react';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { isJsonObject } from '@iss/domain/pure';
import type { api, Snapshot } from '@identity-state/client';
import { useSubject } from '../../app/address.ts';
import { pathOf, tenantPath, useAction, useGet } from '../../app/api.ts';
import { useSession } from '../../app/context.tsx';
import { receiptIn } from '../../entities/erased.ts';
import { useMay } from '../../app/rights.ts';
import { useSubjectAccess, useSubjectHead } from '../../entities/subject-access.ts';
import { TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Hash } from '../../ui/hash.tsx';
import { Json } from '../../ui/text/json.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Answer, Badge, Notice } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { Erased } from '../subject/erased.tsx';
import { Changes } from './changes.tsx';
import { carriedOver, contentOf, isOfItsOwn, type JsonObject, operationsOf, patched, patchOf } from './content.ts';
import { draftOn, drafts } from './draft.ts';
import { Who } from '../../entities/principal.tsx';
import styles from './proposals.module.css';
import { STATUS_TONES } from './proposals-view.tsx';
import { useVersion } from './use-version.ts';

/** Shows a proposal: its author, changes, evidence, and the actions on it. */
export function ProposalView() {
  const { path, subjectId } = useSubject();
  const { updateId } = useParams({
    from: '/signed-in/t/$tenantId/subjects/$subjectType/$subjectId/proposals/$updateId',
  });
  const call = { method: 'GET', path: `${path}/updates${pathOf(updateId)}` } as const;
  const update = useGet<api.Update>(call.path);
  const header = useSubjectHead(useSubjectAccess().data).data;
  const receipt = receiptIn(header);
  const head = useVersion(header === undefined || receipt !== null ? null : 'latest');
  const { data } = update;
  const latest = head.data;
  return (
    <Page
      title={TEXT.proposalTitle(subjectId)}
      call={call}
      actions={data !== undefined && latest !== undefined && <Decide update={data} head={latest} />}
    >
      <Answer query={update}>
        {(shown) => (
          <>
            <Facts update={shown} />
            {receipt === null ? (
              <Answer query={head}>{(snapshot) => <Review update={shown} head={snapshot} />}</Answer>
            ) : (
              <Erased receipt={receipt} />
            )}
          </>
        )}
      </Answer>
    </Page>
  );
}

function Facts({ update }: { update: api.Update }) {
  const { params } = useSubject();
  const version = (number: number) => (
    <Link to="/t/$tenantId/subjects/$subjectType/$subjectId" params={params} search={{ version: String(number) }}>
      {TEXT.versionOf(number)}
    </Link>
  );
  return (
    <dl className={styles.facts}>
      <div>
        <dt>{TEXT.status}</dt>
        <dd>
          <Badge tone={STATUS_TONES[update.status]}>{TEXT.statuses[update.status]}</Badge>
        </dd>
      </div>
      <div>
        <dt>{TEXT.proposedBy}</dt>
        <dd>
          <Who id={update.proposed_by} />
        </dd>
      </div>
      {update.initiated_by !== null && (
        <div>
          <dt>{TEXT.initiatedBy}</dt>
          <dd>
            <Who id={update.initiated_by} />
          </dd>
        </div>
      )}
      <div>
        <dt>{TEXT.proposedAt}</dt>
        <dd>
          <Time at={update.created_at} />
        </dd>
      </div>
      <div>
        <dt>{TEXT.baseVersion}</dt>
        <dd>{version(update.base_snapshot_version)}</dd>
      </div>
      {update.applied_at !== null && (
        <div>
          <dt>{TEXT.appliedAt}</dt>
          <dd>
            <Time at={update.applied_at} />
          </dd>
        </div>
      )}
      {update.withdrawn_at !== null && (
        <div>
          <dt>{TEXT.withdrawnAt}</dt>
          <dd>
            <Time at={update.withdrawn_at} />
          </dd>
        </div>
      )}
      {update.request_id !== null && (
        <div>
          <dt>{TEXT.requestId}</dt>
          <dd>{update.request_id}</dd>
        </div>
      )}
      <div>
        <dt>{TEXT.id}</dt>
        <dd>
          <Hash value={update.update_id} />
        </dd>
      </div>
    </dl>
  );
}

type Asked = 'apply' | 'withdraw';

/** Applies or withdraws a proposal, if the role allows it. A proposer can withdraw its own. */
function Decide({ update, head }: { update: api.Update; head: Snapshot }) {
  const { tenantId, path } = useSubject();
  const may = useMay(tenantId);
  const session = useSession();
  const [asked, setAsked] = useState<Asked | null>(null);
  const action = useAction(path, tenantPath(tenantId, 'entity-state-updates'));
  if (update.status !== 'proposed') return null;
  const base = update.base_snapshot_version;
  // A principal is `oidc:{project}#{sub}`.
  const isOwn = update.proposed_by === session.principalId;
  const mayApply =
    head.snapshot_version === base &&
    may('POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/updates/{update_id}/apply');
  const mayWithdraw =
    may('POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/updates/{update_id}/withdraw') ||
    (isOwn && may('POST /v1/tenants/{tenant_id}/entity-state-updates/{update_id}/withdraw, the caller proposed it'));
  const ask = (what: Asked): void => {
    action.reset();
    setAsked(what);
  };
  const close = (): void => setAsked(null);
  const act = (what: Asked): void =>
    action.mutate({ method: 'POST', path: `${path}/updates${pathOf(update.update_id)}/${what}` }, { onSuccess: close });
  return (
    <>
      {mayApply && (
        <Button kind="primary" onClick={() => ask('apply')}>
          {TEXT.apply}
        </Button>
      )}
      {mayWithdraw && (
        <Button kind="danger" onClick={() => ask('withdraw')}>
          {TEXT.withdraw}
        </Button>
      )}
      <Confirm
        title={TEXT.applyTitle}
        confirm={TEXT.apply}
        kind="primary"
        isOpen={asked === 'apply'}
        isPending={action.isPending}
        error={action.error}
        onClose={close}
        onConfirm={() => act('apply')}
      >
        <p>{TEXT.applyText(base + 1)}</p>
      </Confirm>
      <Confirm
        title={TEXT.withdrawTitle}
        confirm={TEXT.withdraw}
        isOpen={asked === 'withdraw'}
        isPending={action.isPending}
        error={action.error}
        onClose={close}
        onConfirm={() => act('withdraw')}
      >
        <p>{TEXT.withdrawText}</p>
      </Confirm>
    </>
  );
}

function Review({ update, head }: { update: api.Update; head: Snapshot }) {
  const isApplied = update.status === 'applied';
  const baseVersion = update.base_snapshot_version;
  const base = useVersion(head.snapshot_version === baseVersion ? null : baseVersion);
  const made = useVersion(isApplied && head.snapshot_version !== baseVersion + 1 ? baseVersion + 1 : null);
  const baseQuery = head.snapshot_version === baseVersion ? { ...base, data: head, error: null } : base;
  const madeQuery =
    isApplied && head.snapshot_version === baseVersion + 1 ? { ...made, data: head, error: null } : made;
  if (update.patch_ops === null) return <Notice tone="warn">{TEXT.erased}</Notice>;
  const operations = update.patch_ops;
  return (
    <Answer query={baseQuery}>
      {(from) =>
        isApplied ? (
          <Answer query={madeQuery}>
            {(to) => <Applied update={update} from={from} to={to} operations={operations} />}
          </Answer>
        ) : (
          <Pending update={update} from={from} head={head} operations={operations} />
        )
      }
    </Answer>
  );
}

interface DiffProps {
  update: api.Update;
  from: Snapshot;
  operations: readonly api.PatchOperation[];
}

function Applied({ from, to, operations }: DiffProps & { to: Snapshot }) {
  const { params } = useSubject();
  const [before, after] = useMemo(() => [contentOf(from.envelope), contentOf(to.envelope)], [from, to]);
  return (
    <>
      <Notice tone="good">
        <div className={styles.line}>
          <span>{TEXT.becameVersion(to.snapshot_version)}</span>
          <Link
            to="/t/$tenantId/subjects/$subjectType/$subjectId"
            params={params}
            search={{ version: String(to.snapshot_version) }}
          >
            {TEXT.seeVersion}
          </Link>
          <Link
            to="/t/$tenantId/subjects/$subjectType/$subjectId/compare"
            params={params}
            search={{ from: String(from.snapshot_version), to: String(to.snapshot_version) }}
          >
            {TEXT.seeCompare(from.snapshot_version, to.snapshot_version)}
          </Link>
        </div>
      </Notice>
      <Diff before={before} after={after} operations={operations} />
    </>
  );
}

function Pending({ update, from, head, operations }: DiffProps & { head: Snapshot }) {
  const before = useMemo(() => contentOf(from.envelope), [from]);
  const after = useMemo(() => resultOf(from, operations), [from, operations]);
  if (after instanceof Error) {
    return (
      <>
        <Notice tone="bad">{TEXT.doesNotFit}</Notice>
        <Problem error={after} />
        <Operations operations={operations} />
      </>
    );
  }
  const isMoved = head.snapshot_version !== update.base_snapshot_version;
  return (
    <>
      {update.status === 'withdrawn' && <Notice>{TEXT.isWithdrawn}</Notice>}
      {update.status === 'proposed' && isMoved && (
        <Conflict update={update} before={before} after={after} head={head} />
      )}
      <Diff before={before} after={after} operations={operations} />
    </>
  );
}

/** Returns the result of a proposal, or an error if it does not fit. */
function resultOf(from: Snapshot, operations: readonly api.PatchOperation[]): JsonObject | Error {
  try {
    // Operations can read members that they must not change, so they apply to the whole envelope.
    return isJsonObject(from.envelope) ? contentOf(patched(from.envelope, operationsOf(operations))) : {};
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Shows the changes since the base of a stale proposal, and offers to rebase it. */
function Conflict({
  update,
  before,
  after,
  head,
}: {
  update: api.Update;
  before: JsonObject;
  after: JsonObject;
  head: Snapshot;
}) {
  const subject = useSubject();
  const navigate = useNavigate();
  const may = useMay(subject.tenantId);
  const now = useMemo(() => contentOf(head.envelope), [head]);
  const wanted = useMemo(
    () => patchOf(before, after).flatMap(({ path }) => (isOfItsOwn(path) ? [path] : [])),
    [before, after],
  );
  const isSameContent = useMemo(() => patchOf(before, now).length === 0, [before, now]);
  const makeAnew = (): void => {
    drafts.keep({ ...draftOn(subject, head), ...carriedOver(before, after, now), replaces: update.update_id });
    void navigate({ to: '/t/$tenantId/subjects/$subjectType/$subjectId/proposals/new', params: subject.params });
  };
  const base = update.base_snapshot_version;
  return (
    <Section
      title={TEXT.conflictTitle}
      actions={
        may('POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/updates') && (
          <Button kind="primary" onClick={makeAnew}>
            {TEXT.makeAnew(head.snapshot_version)}
          </Button>
        )
      }
    >
      <p className={styles.told}>{TEXT.conflictText(base, head.snapshot_version)}</p>
      <h3>{TEXT.since(base, head.snapshot_version)}</h3>
      {isSameContent ? (
        <p className={styles.quiet}>{TEXT.nothingSince}</p>
      ) : (
        <Changes caption={TEXT.since(base, head.snapshot_version)} from={before} to={now} alsoChanged={wanted} />
      )}
    </Section>
  );
}

function Diff({
  before,
  after,
  operations,
}: {
  before: JsonObject;
  after: JsonObject;
  operations: readonly api.PatchOperation[];
}) {
  return (
    <>
      <h2>{TEXT.changes}</h2>
      <Changes caption={TEXT.changes} from={before} to={after} />
      <Operations operations={operations} />
    </>
  );
}

function Operations({ operations }: { operations: readonly api.PatchOperation[] }) {
  const [isShown, setShown] = useState(false);
  return (
    <details className={styles.group} open={isShown} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary>{TEXT.showOperations}</summary>
      {isShown && <Json value={operations} label={TEXT.operations} />}
    </details>
  );
}
