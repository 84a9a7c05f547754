import type { RefreshRequestOrigin, RefreshRequestStatus, RefreshSeriesEnd, SubjectRef } from '@iss/domain';
import type { Columns } from '../../sql/columns';

/** A stored refresh request. The three members `resolved…` are set together when it is fulfilled. */
export interface RefreshRequestRecord extends SubjectRef {
  refreshRequestId: string;
  requestingTenantId: string;
  originType: RefreshRequestOrigin;
  status: RefreshRequestStatus;
  reasonCode: string | null;
  message: string | null;
  requestedPaths: string[];
  createdAt: Date;
  expiresAt: Date | null;
  resolvedAt: Date | null;
  resolvedSnapshotId: string | null;
  resolvedSnapshotVersion: number | null;
  dueAt: Date | null;
  /** `dueAt` if it passed while the request was pending, else null. */
  overdueAt: Date | null;
  /** When it was declined or cancelled, or expired. */
  closedAt: Date | null;
  declineReason: string | null;
  /** An ISO 8601 duration. Null if the request does not recur; the following five members are then null, too. */
  every: string | null;
  /** The first request of its series. */
  seriesId: string | null;
  previousRequestId: string | null;
  nextRequestId: string | null;
  /** When the next request will be opened; null if none is planned. */
  nextAt: Date | null;
  seriesEndReason: RefreshSeriesEnd | null;
}

/** A request in a list, with the name of its subject for a caller that may read its latest version. */
export interface ListedRefreshRequest extends RefreshRequestRecord {
  name: string | null;
  /** The disclosure to record before the name is shown. Null for the owner, and if there is no name. */
  disclosure: { subjectKey: number; grantId: string; version: number } | null;
}

/** True if the request `r` can be answered now. It uses the database's clock, because the worker stores `expired` later. */
export const IS_OPEN = `r.status = 'pending' AND coalesce(r.expires_at, 'infinity') > statement_timestamp()`;
const IS_OVER = `r.status = 'pending' AND r.expires_at <= statement_timestamp()`;
/** The current status of the request `r`. */
export const STATUS = `CASE WHEN ${IS_OVER} THEN 'expired' ELSE r.status END`;

/** Returns the columns of the request `r` of subject `s`. */
export const requestColumns = (s = 's'): Columns<RefreshRequestRecord> => ({
  refreshRequestId: 'r.refresh_request_id',
  subjectType: `${s}.subject_type`,
  subjectId: `${s}.subject_id`,
  requestingTenantId: 'r.requesting_tenant_id',
  originType: 'r.origin_type',
  status: STATUS,
  reasonCode: 'r.reason_code',
  message: 'r.message',
  requestedPaths: 'r.requested_paths',
  createdAt: 'r.created_at',
  expiresAt: 'r.expires_at',
  resolvedAt: 'r.resolved_at',
  resolvedSnapshotId: 'r.resolved_snapshot_id',
  resolvedSnapshotVersion: 'r.resolved_snapshot_version',
  dueAt: 'r.due_at',
  overdueAt: `CASE WHEN r.due_at <= coalesce(r.resolved_at, r.closed_at, LEAST(r.expires_at, statement_timestamp()))
       THEN r.due_at END`,
  closedAt: `CASE WHEN ${IS_OVER} THEN r.expires_at ELSE r.closed_at END`,
  declineReason: 'r.decline_reason',
  every: 'r.every',
  seriesId: 'r.series_id',
  previousRequestId: 'r.previous_request_id',
  nextRequestId: 'r.next_request_id',
  nextAt: 'r.next_at',
  seriesEndReason: 'r.series_end_reason',
});
