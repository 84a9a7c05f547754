import { type ReactNode, useState } from 'react';
import { Link, useNavigate } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { OF_SUBJECT, SUBJECT_VIEW, useSubject } from '../../app/address.ts';
import { type ApiCall, apiCall, tenantPath, useAction, useInvalidate } from '../../app/api.ts';
import { useMay } from '../../app/rights.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/field.tsx';
import { Notice, Page, Problem } from '../../ui/page.tsx';
import ui from '../../ui/ui.module.css';
import { draftPatch } from './draft/content.ts';
import { type Draft, drafts, isChanged } from './draft/draft.ts';
import { TEXT } from './words.ts';
import styles from './proposals.module.css';

const UPDATES = `${OF_SUBJECT}/updates` as const;

/** A proposal that was sent, and the error of the next step. */
export interface SendOutcome {
  readonly updateId: string;
  readonly error: Error;
}

type Patch = ReturnType<typeof draftPatch>;

/** Returns the call that proposes a patch. */
export function proposing(
  { subject, base, isCorrection }: Draft,
  patch: Patch,
  requestId?: string,
): ApiCall<api.Update> {
  return apiCall('POST', UPDATES, {
    path: subject.ids,
    body: {
      subject_id: subject.subjectId,
      base_snapshot_version: base.snapshot_version,
      patch_ops: patch,
      ...(isCorrection ? { change_kind: 'correction' } : {}),
      ...(requestId === undefined ? {} : { request_id: requestId }),
    },
  });
}

interface Sending {
  readonly error: Error | null;
  /** The operations that were sent. */
  readonly patch: Patch;
  readonly isPending: boolean;
  readonly send: (options: { isApplied: boolean; withdraws: string | null }) => void;
}

/** Sends the proposal, applies it on request, and opens it. A failure keeps the draft. */
export function useSending(draft: Draft, onOutcome: (outcome: SendOutcome) => void): Sending {
  const { subject, base, baseContent, content } = draft;
  const navigate = useNavigate();
  const changes = [subject.path, tenantPath(subject.tenantId, 'entity-state-updates')];
  const propose = useAction<api.Update>();
  const follow = useAction(...changes);
  const invalidate = useInvalidate();
  const [patch, setPatch] = useState<Patch>([]);

  const run = async ({ isApplied, withdraws }: { isApplied: boolean; withdraws: string | null }): Promise<void> => {
    // Computed from the current content, since the displayed patch is deferred.
    const operations = draftPatch(baseContent, content);
    setPatch(operations);
    const text = JSON.stringify([base.snapshot_version, operations, draft.isCorrection]);
    const sent = draft.sent?.patch === text ? draft.sent : { patch: text, requestId: crypto.randomUUID() };
    drafts.keep({ ...draft, sent });
    const { update_id: updateId } = await propose.mutateAsync(proposing(draft, operations, sent.requestId));
    const idsOf = (update: string) => ({ path: { ...subject.ids, update_id: update } });
    try {
      if (withdraws !== null)
        await follow.mutateAsync(apiCall('POST', `${UPDATES}/{update_id}/withdraw`, idsOf(withdraws)));
      if (isApplied) await follow.mutateAsync(apiCall('POST', `${UPDATES}/{update_id}/apply`, idsOf(updateId)));
    } catch (error) {
      onOutcome({ updateId, error: error instanceof Error ? error : new Error(String(error)) });
      return;
    } finally {
      drafts.drop(subject);
      for (const path of changes) void invalidate(path);
    }
    await navigate({
      to: `${SUBJECT_VIEW}/proposals/$updateId`,
      params: { ...subject.params, updateId },
    });
  };
  return {
    error: propose.error,
    patch,
    isPending: propose.isPending || follow.isPending,
    // The mutation shows its error.
    send: (options) => void run(options).catch(() => undefined),
  };
}

interface SendProps {
  draft: Draft;
  isReadable: boolean;
  isEmpty: boolean;
  sending: Sending;
  /** Returns whether the form is complete, and shows what is missing. */
  check: () => boolean;
}

export function Send({ draft, isReadable, isEmpty, sending, check }: SendProps) {
  const { subject, replaces } = draft;
  const may = useMay(subject.tenantId);
  const [withdraws, setWithdraws] = useState(true);
  const mayPropose = may('POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/updates');
  const mayApply = may('POST /v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/updates/{update_id}/apply');
  if (!mayPropose) return <Notice tone="warn">{TEXT.mayNot}</Notice>;
  const hint: ReactNode =
    draft.text?.isPending === true
      ? TEXT.jsonReading
      : isReadable
        ? isEmpty
          ? TEXT.nothingYet
          : null
        : TEXT.mendFirst;
  const isBlocked = hint !== null;
  const send = (isApplied: boolean): void => {
    if (!isBlocked && check()) sending.send({ isApplied, withdraws: withdraws ? replaces : null });
  };
  return (
    <div className={styles.send}>
      {sending.error !== null && <Problem error={sending.error} />}
      {replaces !== null && (
        <Checkbox
          label={TEXT.alsoWithdraw}
          checked={withdraws}
          onChange={(event) => setWithdraws(event.target.checked)}
        />
      )}
      <Checkbox
        label={TEXT.isCorrection}
        checked={draft.isCorrection}
        onChange={(event) => drafts.keep({ ...draft, isCorrection: event.target.checked })}
      />
      <div className={ui.actions}>
        <Button
          kind="primary"
          isPending={sending.isPending}
          aria-disabled={isBlocked || undefined}
          aria-describedby="send-hint"
          onClick={() => send(false)}
        >
          {TEXT.propose}
        </Button>
        {mayApply && (
          <Button isPending={sending.isPending} aria-describedby="send-hint" onClick={() => send(true)}>
            {TEXT.proposeAndApply}
          </Button>
        )}
        {isChanged(draft) && (
          <Button kind="plain" onClick={() => drafts.drop(subject)}>
            {TEXT.discard}
          </Button>
        )}
      </div>
      <p id="send-hint" className={styles.quiet}>
        {hint}
      </p>
    </div>
  );
}

/** Shows that the proposal was sent and the next step failed. */
export function AfterProposal({ updateId, error }: SendOutcome) {
  const { params, subjectId } = useSubject();
  return (
    <Page title={TEXT.newTitle(subjectId)}>
      <Notice tone="warn">{TEXT.sentNotApplied}</Notice>
      <Problem error={error} />
      <p>
        <Link to={`${SUBJECT_VIEW}/proposals/$updateId`} params={{ ...params, updateId }}>
          {TEXT.toProposal}
        </Link>
      </p>
    </Page>
  );
}
