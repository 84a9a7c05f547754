import { useState } from 'react';
import { Link } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { pathOf, tenantPath, useAction, useList } from '../../app/api.ts';
import { TEXT } from './words.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Select, TextArea } from '../../ui/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Notice } from '../../ui/state.tsx';
import { More } from '../../ui/table/table.tsx';

export interface Answering {
  readonly kind: 'fulfil' | 'decline' | 'cancel';
  readonly request: api.RefreshRequest;
}

interface AnswerProps {
  request: api.RefreshRequest;
  tenantId: string;
  onClose: () => void;
}

const MAX_REASON = 500;

/** Answers a request. A failure keeps the typed input. */
export function AnswerDialog({ answering, ...rest }: Omit<AnswerProps, 'request'> & { answering: Answering }) {
  const { kind, request } = answering;
  switch (kind) {
    case 'fulfil':
      return <Fulfil request={request} {...rest} />;
    case 'decline':
      return <Decline request={request} {...rest} />;
    case 'cancel':
      return <Cancel request={request} {...rest} />;
  }
}

function useAnswer({ request, tenantId, onClose }: AnswerProps) {
  const subject = pathOf('v1', 'subjects', request.subject_type, request.subject_id);
  const requests = `${subject}/refresh-requests`;
  const action = useAction(requests, tenantPath(tenantId, 'refresh-requests'));
  const path = `${requests}${pathOf(request.refresh_request_id)}`;
  return {
    isPending: action.isPending,
    error: action.error,
    answer: (how: 'fulfill' | 'decline' | 'cancel', body?: unknown): void =>
      action.mutate(
        { method: 'POST', path: `${path}/${how}`, ...(body === undefined ? {} : { body }) },
        { onSuccess: onClose },
      ),
  };
}

/** Fulfils a request with a version of its subject: the suggested one by default, else the latest. */
function Fulfil(props: AnswerProps) {
  const { request, tenantId, onClose } = props;
  const { subject_type: subjectType, subject_id: subjectId, suggested_fulfilment: suggested } = request;
  const { answer, ...state } = useAnswer(props);
  const versions = useList<api.SnapshotHeader>(tenantPath(tenantId, 'subjects', subjectType, subjectId, 'snapshots'), {
    view: 'header',
    limit: 100,
  });
  const newest = versions.items.toSorted((one, other) => other.snapshot_version - one.snapshot_version);
  const [chosen, setChosen] = useState<string | null>(null);
  const snapshotId = chosen ?? suggested?.snapshot_id ?? newest[0]?.snapshot_id;
  return (
    <Confirm
      title={TEXT.fulfilTitle(request.requesting_tenant_id)}
      confirm={TEXT.fulfil}
      kind="primary"
      isOpen
      onClose={onClose}
      {...state}
      onConfirm={() => snapshotId !== undefined && answer('fulfill', { resolved_snapshot_id: snapshotId })}
    >
      {suggested !== null && suggested !== undefined && (
        <Notice tone="good">{TEXT.suggested(suggested.snapshot_version)}</Notice>
      )}
      <p>
        {TEXT.fulfilNote}{' '}
        <Link
          to="/t/$tenantId/subjects/$subjectType/$subjectId/proposals/new"
          params={{ tenantId, subjectType, subjectId }}
          search={request.requested_paths[0] === undefined ? {} : { path: request.requested_paths[0] }}
        >
          {TEXT.changeFirst}
        </Link>
      </p>
      {versions.error !== null && <Problem error={versions.error} retry={() => void versions.refetch()} />}
      <Select
        label={TEXT.version}
        value={snapshotId ?? ''}
        options={newest.map(({ snapshot_id: value, snapshot_version: version }, index) => ({
          value,
          label: index === 0 ? TEXT.latest(version) : TEXT.older(version),
        }))}
        onChange={(event) => setChosen(event.target.value)}
      />
      <More list={versions} />
    </Confirm>
  );
}

function Decline(props: AnswerProps) {
  const { answer, ...state } = useAnswer(props);
  const [reason, setReason] = useState('');
  return (
    <Confirm
      title={TEXT.declineTitle(props.request.requesting_tenant_id)}
      confirm={TEXT.decline}
      isOpen
      onClose={props.onClose}
      {...state}
      onConfirm={() => answer('decline', { reason })}
    >
      <TextArea
        label={TEXT.declineReason}
        hint={TEXT.declineHint}
        rows={3}
        maxLength={MAX_REASON}
        value={reason}
        autoFocus
        onChange={(event) => setReason(event.target.value)}
      />
    </Confirm>
  );
}

function Cancel(props: AnswerProps) {
  const { answer, ...state } = useAnswer(props);
  const { status, every } = props.request;
  const isPending = status === 'pending';
  return (
    <Confirm
      title={isPending ? TEXT.cancelTitle : TEXT.stopTitle}
      confirm={isPending ? TEXT.cancel : TEXT.stop}
      isOpen
      onClose={props.onClose}
      {...state}
      onConfirm={() => answer('cancel')}
    >
      {isPending && <p>{TEXT.cancelText}</p>}
      {every !== null && <p>{TEXT.cancelSeriesText}</p>}
    </Confirm>
  );
}
