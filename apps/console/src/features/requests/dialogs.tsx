import { useState } from 'react';
import { Link } from '@tanstack/react-router';
import type { api } from '@identity-state/client';
import { type ApiCall, apiCall, encodePath, tenantPath, useList } from '../../app/api.ts';
import { ConfirmCall } from '../../forms/form.tsx';
import { Select, TextArea } from '../../ui/field.tsx';
import { Notice, Problem } from '../../ui/page.tsx';
import { More } from '../../ui/table/table.tsx';
import { TEXT } from './words.ts';

type Request = api.RefreshRequest;

interface AnswerProps {
  request: Request;
  tenantId: string;
  onClose: () => void;
}

const MAX_REASON = 500;
const OF_REQUEST = '/v1/subjects/{subject_type}/{subject_id}/refresh-requests/{refresh_request_id}';

/** Returns the part of each dialog that sends an answer and closes it. A failure keeps the typed input. */
function answering({ request, tenantId, onClose }: AnswerProps, call: ApiCall | null) {
  const requests = encodePath('v1', 'subjects', request.subject_type, request.subject_id, 'refresh-requests');
  return { call, changes: [requests, tenantPath(tenantId, 'refresh-requests')], onClose };
}

const pathTo = ({ subject_type, subject_id, refresh_request_id }: Request) => ({
  path: { subject_type, subject_id, refresh_request_id },
});

/** Fulfils a request with a version of its subject: the suggested one by default, else the latest. */
export function Fulfil(props: AnswerProps) {
  const { request, tenantId } = props;
  const { subject_type: subjectType, subject_id: subjectId, suggested_fulfilment: suggested } = request;
  const versions = useList(
    apiCall('GET', '/v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/snapshots', {
      path: { tenant_id: tenantId, subject_type: subjectType, subject_id: subjectId },
      query: { view: 'header', limit: 100 },
    }),
  );
  const newest = versions.items.toSorted((one, other) => other.snapshot_version - one.snapshot_version);
  const [chosen, setChosen] = useState<string | null>(null);
  const snapshotId = chosen ?? suggested?.snapshot_id ?? newest[0]?.snapshot_id;
  const [path] = request.requested_paths;
  const call =
    snapshotId === undefined
      ? null
      : apiCall('POST', `${OF_REQUEST}/fulfill`, { ...pathTo(request), body: { resolved_snapshot_id: snapshotId } });
  return (
    <ConfirmCall
      {...answering(props, call)}
      title={TEXT.fulfilTitle(request.requesting_tenant_id)}
      confirm={TEXT.fulfil}
      kind="primary"
    >
      {suggested !== null && suggested !== undefined && (
        <Notice tone="good">{TEXT.suggested(suggested.snapshot_version)}</Notice>
      )}
      <p>
        {TEXT.fulfilNote}{' '}
        <Link
          to="/t/$tenantId/subjects/$subjectType/$subjectId/proposals/new"
          params={{ tenantId, subjectType, subjectId }}
          search={path === undefined ? {} : { path }}
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
    </ConfirmCall>
  );
}

export function Decline(props: AnswerProps) {
  const [reason, setReason] = useState('');
  return (
    <ConfirmCall
      {...answering(props, apiCall('POST', `${OF_REQUEST}/decline`, { ...pathTo(props.request), body: { reason } }))}
      title={TEXT.declineTitle(props.request.requesting_tenant_id)}
      confirm={TEXT.decline}
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
    </ConfirmCall>
  );
}

export function Cancel(props: AnswerProps) {
  const { status, every } = props.request;
  const isPending = status === 'pending';
  return (
    <ConfirmCall
      {...answering(props, apiCall('POST', `${OF_REQUEST}/cancel`, pathTo(props.request)))}
      title={isPending ? TEXT.cancelTitle : TEXT.stopTitle}
      confirm={isPending ? TEXT.cancel : TEXT.stop}
    >
      {isPending && <p>{TEXT.cancelText}</p>}
      {every !== null && <p>{TEXT.cancelSeriesText}</p>}
    </ConfirmCall>
  );
}
