import { type ReactNode, useMemo, useState } from 'react';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { isJsonObject } from '@iss/domain/pure';
import type { api, Snapshot } from '@identity-state/client';
import { OF_SUBJECT, SUBJECT_VIEW, useSubject } from '../../app/address.ts';
import { apiCall, tenantPath, useGet } from '../../app/api.ts';
import { useSession } from '../../app/context.tsx';
import { useMay } from '../../app/rights.ts';
import { Correction } from '../../entities/versions.tsx';
import { receiptIn } from '../../entities/erased.ts';
import { Who } from '../../entities/principal.tsx';
import { useSubjectAccess, useSubjectHead } from '../../entities/subject-access.ts';
import { ConfirmCall } from '../../forms/form.tsx';
import { DialogButton } from '../../forms/row-actions.tsx';
import { Button } from '../../ui/button.tsx';
import { Hash } from '../../ui/copy.tsx';
import { Loaded, Badge, Notice, Page, Problem, Section } from '../../ui/page.tsx';
import { Json } from '../../ui/text/json.tsx';
import { Time } from '../../ui/time.tsx';
import { ErasedNotice } from '../subject/erased.tsx';
import { Changes } from './changes.tsx';
import {
  applyOperations,
  carriedOver,
  contentOf,
  isOfItsOwn,
  type JsonObject,
  operationsOf,
  draftPatch,
} from './draft/content.ts';
import { draftOn, drafts } from './draft/draft.ts';
import { UPDATE_TONES } from './proposals-view.tsx';
import { useVersion } from './use-version.ts';
import { TEXT } from './words.ts';
import styles from './proposals.module.css';

const UPDATE = `${OF_SUBJECT}/updates/{update_id}` as const;

/** Shows a proposal: its author, changes, evidence, and the actions on it. */
export function ProposalView() {
  const { ids, subjectId } = useSubject();
  const { updateId } = useParams({ from: `/signed-in${SUBJECT_VIEW}/proposals/$updateId` });
  const call = apiCall('GET', UPDATE, { path: { ...ids, update_id: updateId } });
  const update = useGet(call);
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
      <Loaded query={update}>
        {(shown) => (
          <>
            <UpdateFacts update={shown} />
            {receipt === null ? (
              <Loaded query={head}>{(snapshot) => <Review update={shown} head={snapshot} />}</Loaded>
            ) : (
              <ErasedNotice receipt={receipt} />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function UpdateFacts({ update }: { update: api.Update }) {
  const { params } = useSubject();
  const base = update.base_snapshot_version;
  const facts: readonly (readonly [name: string, value: ReactNode])[] = [
    [TEXT.status, <Badge tone={UPDATE_TONES[update.status]}>{TEXT.statuses[update.status]}</Badge>],
    [TEXT.changeKind, update.change_kind === 'correction' && <Correction of={update} />],
    [TEXT.proposedBy, <Who id={update.proposed_by} />],
    [TEXT.initiatedBy, update.initiated_by !== null && <Who id={update.initiated_by} />],
    [TEXT.proposedAt, <Time at={update.created_at} />],
    [
      TEXT.baseVersion,
      <Link to={SUBJECT_VIEW} params={params} search={{ version: String(base) }}>
        {TEXT.versionOf(base)}
      </Link>,
    ],
    [TEXT.appliedAt, update.applied_at !== null && <Time at={update.applied_at} />],
    [TEXT.withdrawnAt, update.withdrawn_at !== null && <Time at={update.withdrawn_at} />],
    [TEXT.requestId, update.request_id ?? false],
    [TEXT.id, <Hash value={update.update_id} />],
  ];
  return (
    <dl className={styles.facts}>
      {facts.map(
        ([name, value]) =>
          value !== false && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** Applies or withdraws a proposal, if the role allows it. A proposer can withdraw its own. */
function Decide({ update, head }: { update: api.Update; head: Snapshot }) {
  const { tenantId, path, ids } = useSubject();
  const may = useMay(tenantId);
  const session = useSession();
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
  const call = { path: { ...ids, update_id: update.update_id } };
  const changes = [path, tenantPath(tenantId, 'entity-state-updates')];
  return (
    <>
      {mayApply && (
        <DialogButton kind="primary" label={TEXT.apply}>
          {(close) => (
            <ConfirmCall
              title={TEXT.applyTitle}
              confirm={TEXT.apply}
              kind="primary"
              call={apiCall('POST', `${UPDATE}/apply`, call)}
              changes={changes}
              onClose={close}
            >
              <p>{TEXT.applyText(base + 1)}</p>
            </ConfirmCall>
          )}
        </DialogButton>
      )}
      {mayWithdraw && (
        <DialogButton kind="danger" label={TEXT.withdraw}>
          {(close) => (
            <ConfirmCall
              title={TEXT.withdrawTitle}
              confirm={TEXT.withdraw}
              call={apiCall('POST', `${UPDATE}/withdraw`, call)}
              changes={changes}
              onClose={close}
            >
              <p>{TEXT.withdrawText}</p>
            </ConfirmCall>
          )}
        </DialogButton>
      )}
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
    <Loaded query={baseQuery}>
      {(from) =>
        isApplied ? (
          <Loaded query={madeQuery}>
            {(to) => <Applied update={update} from={from} to={to} operations={operations} />}
          </Loaded>
        ) : (
          <Pending update={update} from={from} head={head} operations={operations} />
        )
      }
    </Loaded>
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
          <Link to={SUBJECT_VIEW} params={params} search={{ version: String(to.snapshot_version) }}>
            {TEXT.seeVersion}
          </Link>
          <Link
            to={`${SUBJECT_VIEW}/compare`}
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
    return isJsonObject(from.envelope) ? contentOf(applyOperations(from.envelope, operationsOf(operations))) : {};
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
    () => draftPatch(before, after).flatMap(({ path }) => (isOfItsOwn(path) ? [path] : [])),
    [before, after],
  );
  const isSameContent = useMemo(() => draftPatch(before, now).length === 0, [before, now]);
  const makeAnew = (): void => {
    const isCorrection = update.change_kind === 'correction';
    const over = { ...carriedOver(before, after, now), isCorrection, replaces: update.update_id };
    drafts.keep({ ...draftOn(subject, head), ...over });
    void navigate({ to: `${SUBJECT_VIEW}/proposals/new`, params: subject.params });
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
