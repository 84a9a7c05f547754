import type { RefreshRequestOrigin, RefreshRequestStatus, RefreshSeriesEnd, SubjectRef } from '@iss/domain';
import type { SubjectDisclosure } from '../facts/access-facts';

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
  disclosure: (Omit<SubjectDisclosure, 'granteeTenantId'> & { version: number }) | null;
}
