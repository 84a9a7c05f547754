import { randomUUID } from 'node:crypto';
import type { JsonValue } from '../json/value';
import type {
  ChangeKind,
  ConfirmationSetting,
  RefreshRequestOrigin,
  RefreshRequestStatus,
  RefreshSeriesEnd,
  UpdateStatus,
} from '../statuses';
import { ALL_SUBJECTS } from '../subject-ref';

/** The event types that a subscription may name: specification "Events", and those for the parties of a grant. */
export const EVENT_TYPES = [
  'identity.snapshot.created',
  'update.proposed',
  'update.applied',
  'update.withdrawn',
  'refresh_request.created',
  'refresh_request.fulfilled',
  'refresh_request.declined',
  'refresh_request.cancelled',
  'refresh_request.overdue',
  'refresh_request.expired',
  'tenant.change_requested',
  'erasure.requested',
  'subject.erased',
  'shared.snapshot.created',
  'evidence.revoked',
  'grant.requested',
  'grant.created',
  'grant.changed',
  'grant.revoked',
  'grant.started',
  'grant.expiring',
  'grant.expired',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];
/** The event of `POST …/test`. No subscription names it. */
export const TEST_EVENT_TYPE = 'webhook.test';

/** The `data` of an event, by the kind of its type. */
type DataOf<Type extends string> = Type extends 'identity.snapshot.created'
  ? ReturnType<typeof snapshotCreatedData>
  : Type extends 'shared.snapshot.created'
    ? ReturnType<typeof sharedSnapshotCreatedData>
    : Type extends `update.${string}`
      ? ReturnType<typeof updateData>
      : Type extends `refresh_request.${string}`
        ? ReturnType<typeof refreshRequestData>
        : Type extends 'erasure.requested'
          ? ReturnType<typeof erasureRequestedData>
          : Type extends 'subject.erased'
            ? ReturnType<typeof subjectErasedData>
            : Type extends 'evidence.revoked'
              ? ReturnType<typeof evidenceRevokedData>
              : Type extends 'tenant.change_requested'
                ? ReturnType<typeof changeRequestedData>
                : Type extends 'grant.requested'
                  ? ReturnType<typeof grantRequestedData>
                  : Type extends `grant.${string}`
                    ? ReturnType<typeof grantData>
                    : Type extends typeof TEST_EVENT_TYPE
                      ? { subscription_id: string }
                      : never;

/** Maps each event type to its `data` (contract, "Events"). It never contains attributes or free text. */
export type EventData = { [Type in EventType | typeof TEST_EVENT_TYPE]: DataOf<Type> };

/** A delivered body as a receiver reads it. */
export interface EventBody {
  id: string;
  type: string;
  created_at: string;
  tenant_id: string;
  data: JsonValue;
}

/**
 * Builds the body of all deliveries of an event. It is stored, signed and sent unchanged. `eventId` is the bare UUID,
 * and `tenantId` is the tenant whose subscriptions receive the event.
 */
export function buildEventBody<T extends keyof EventData>(event: {
  eventId: string;
  type: T;
  createdAt: Date;
  tenantId: string;
  data: EventData[T];
}): string {
  const { eventId, type, createdAt, tenantId, data } = event;
  return JSON.stringify({
    id: eventIdOf(eventId),
    type,
    created_at: createdAt.toISOString(),
    tenant_id: tenantId,
    data,
  });
}

/** Builds `data` of `identity.snapshot.created`. */
export function snapshotCreatedData(snapshot: {
  subjectType: string;
  subjectId: string;
  snapshotId: string;
  snapshotVersion: number;
  envelopeHash: string;
  prevHash: string | null;
  changeKind: ChangeKind;
  /** The changed paths that the receiver may see ({@link shownChanges}). */
  changedPaths: readonly string[] | null;
}) {
  return {
    subject: { subject_type: snapshot.subjectType, subject_id: snapshot.subjectId },
    snapshot_id: snapshot.snapshotId,
    snapshot_version: snapshot.snapshotVersion,
    envelope_hash: snapshot.envelopeHash,
    prev_hash: snapshot.prevHash,
    change_kind: snapshot.changeKind,
    changed_paths: snapshot.changedPaths,
  };
}

/** The status in an event of an update, which may have another status by now. */
export const UPDATE_EVENTS = {
  'update.proposed': 'proposed',
  'update.applied': 'applied',
  'update.withdrawn': 'withdrawn',
} as const satisfies Partial<Record<EventType, UpdateStatus>>;
export type UpdateEventType = keyof typeof UPDATE_EVENTS;

/** Builds `data` of an update's event. */
export function updateData(
  type: UpdateEventType,
  update: {
    updateId: string;
    subjectType: string;
    subjectId: string;
    baseSnapshotId: string;
    baseSnapshotVersion: number;
    proposedBy: string;
    appliedSnapshotId: string | null;
  },
) {
  const isApplied = type === 'update.applied';
  return {
    update_id: update.updateId,
    subject: { subject_type: update.subjectType, subject_id: update.subjectId },
    base_snapshot_id: update.baseSnapshotId,
    base_snapshot_version: update.baseSnapshotVersion,
    status: UPDATE_EVENTS[type],
    proposed_by: update.proposedBy,
    applied_snapshot_id: isApplied ? update.appliedSnapshotId : null,
    applied_snapshot_version: isApplied ? update.baseSnapshotVersion + 1 : null,
  };
}

/** Builds `data` of `shared.snapshot.created`. */
export function sharedSnapshotCreatedData(
  snapshot: Parameters<typeof snapshotCreatedData>[0] & { ownerTenantId: string },
) {
  return { owner_tenant_id: snapshot.ownerTenantId, ...snapshotCreatedData(snapshot) };
}

/** Builds `data` of a grant's events, without its purpose, which is free text. */
export function grantData(grant: {
  grantId: string;
  ownerTenantId: string;
  granteeTenantId: string;
  subjectType: string;
  subjectId: string;
  scopes: readonly string[];
  paths: readonly string[] | null;
  startsAt: Date | null;
  expiresAt: Date | null;
}) {
  const scopes: readonly string[] = [...grant.scopes].sort();
  return {
    grant_id: grant.grantId,
    owner_tenant_id: grant.ownerTenantId,
    grantee_tenant_id: grant.granteeTenantId,
    subject: { subject_type: grant.subjectType, subject_id: grant.subjectId },
    scopes,
    paths: grant.paths,
    starts_at: grant.startsAt?.toISOString() ?? null,
    expires_at: grant.expiresAt?.toISOString() ?? null,
  };
}

/** Builds `data` of `grant.requested`. */
export function grantRequestedData(pending: {
  grantId: string;
  grantorTenantId: string;
  granteeTenantId: string;
  scopes: readonly string[];
  paths: readonly string[] | null;
  startsAt: Date | null;
  expiresAt: Date | null;
  requestedBy: string;
  confirmBy: Date;
}) {
  const { grantorTenantId: ownerTenantId, requestedBy, confirmBy } = pending;
  return {
    ...grantData({ ...pending, ...ALL_SUBJECTS, ownerTenantId }),
    requested_by: requestedBy,
    confirm_by: confirmBy.toISOString(),
  };
}

/** Builds `data` of `tenant.change_requested`. */
export function changeRequestedData(change: {
  setting: ConfirmationSetting;
  requestedBy: string | null;
  requestedAt: string;
  effectiveAt: string;
}) {
  return {
    setting: change.setting,
    requested_by: change.requestedBy,
    requested_at: change.requestedAt,
    effective_at: change.effectiveAt,
  };
}

/** Builds `data` of a refresh request's events. */
export function refreshRequestData(request: {
  refreshRequestId: string;
  subjectType: string;
  subjectId: string;
  requestingTenantId: string;
  originType: RefreshRequestOrigin;
  status: RefreshRequestStatus;
  reasonCode: string | null;
  requestedPaths: readonly string[];
  createdAt: Date;
  expiresAt: Date | null;
  resolvedAt: Date | null;
  resolvedSnapshotId: string | null;
  resolvedSnapshotVersion: number | null;
  dueAt: Date | null;
  overdueAt: Date | null;
  closedAt: Date | null;
  every: string | null;
  seriesId: string | null;
  previousRequestId: string | null;
  nextRequestId: string | null;
  nextAt: Date | null;
  seriesEndReason: RefreshSeriesEnd | null;
}) {
  const { subjectType, subjectId } = request;
  const resolvedAt = request.resolvedAt?.toISOString() ?? null;
  return {
    refresh_request_id: request.refreshRequestId,
    request_id: request.refreshRequestId,
    subject: { subject_type: subjectType, subject_id: subjectId },
    subject_type: subjectType,
    subject_id: subjectId,
    requesting_tenant_id: request.requestingTenantId,
    origin_type: request.originType,
    status: request.status,
    reason_code: request.reasonCode,
    requested_paths: request.requestedPaths,
    created_at: request.createdAt.toISOString(),
    expires_at: request.expiresAt?.toISOString() ?? null,
    resolved_at: resolvedAt,
    fulfilled_at: resolvedAt,
    resolved_snapshot_id: request.resolvedSnapshotId,
    fulfilled_snapshot_id: request.resolvedSnapshotId,
    resolved_snapshot_version: request.resolvedSnapshotVersion,
    due_at: request.dueAt?.toISOString() ?? null,
    overdue_at: request.overdueAt?.toISOString() ?? null,
    closed_at: request.closedAt?.toISOString() ?? null,
    every: request.every,
    series_id: request.seriesId,
    previous_request_id: request.previousRequestId,
    next_request_id: request.nextRequestId,
    next_at: request.nextAt?.toISOString() ?? null,
    series_end_reason: request.seriesEndReason,
  };
}

/** Builds `data` of `erasure.requested`. */
export function erasureRequestedData(erasure: {
  subjectType: string;
  subjectId: string;
  erasureId: string;
  versions: readonly number[];
  requestedBy: string;
  confirmBy: Date;
}) {
  return {
    subject: { subject_type: erasure.subjectType, subject_id: erasure.subjectId },
    erasure_id: erasure.erasureId,
    versions: erasure.versions,
    requested_by: erasure.requestedBy,
    confirm_by: erasure.confirmBy.toISOString(),
  };
}

/** Builds `data` of `evidence.revoked`. */
export function evidenceRevokedData(revoked: {
  ownerTenantId: string;
  subjectType: string;
  subjectId: string;
  snapshotId: string;
  snapshotVersion: number;
  /** With its prefix. */
  attestationId: string;
  revokedAt: Date;
}) {
  return {
    owner_tenant_id: revoked.ownerTenantId,
    subject: { subject_type: revoked.subjectType, subject_id: revoked.subjectId },
    snapshot_id: revoked.snapshotId,
    snapshot_version: revoked.snapshotVersion,
    attestation_id: revoked.attestationId,
    revoked_at: revoked.revokedAt.toISOString(),
  };
}

/** Builds `data` of `subject.erased`. */
export function subjectErasedData(erasure: {
  subjectType: string;
  subjectId: string;
  erasureId: string;
  versions: readonly number[];
  erasedAt: Date;
}) {
  return {
    subject: { subject_type: erasure.subjectType, subject_id: erasure.subjectId },
    erasure_id: erasure.erasureId,
    versions: erasure.versions,
    erased_at: erasure.erasedAt.toISOString(),
  };
}

/**
 * The common prefix of all ids of a millisecond. It is cached because every write makes an id, and most of the work is
 * here.
 */
let [millisecond, beginning] = [0, ''];

/** Returns a new event's stored id: a UUIDv7 (RFC 9562, section 5.7), so that ids sort by time. */
export function newEventId(): string {
  const now = Date.now();
  if (now !== millisecond) {
    const time = now.toString(16).padStart(12, '0');
    [millisecond, beginning] = [now, `${time.slice(0, 8)}-${time.slice(8)}-7`];
  }
  // Uses the random bits of a version 4 UUID, which Node caches. The uuid package asks the operating system for each.
  return `${beginning}${randomUUID().slice(15)}`;
}

/** Returns the public id of an event. The stored id is a bare UUID. */
export function eventIdOf(uuid: string): string {
  return `evt_${uuid}`;
}

/** The prefix of a public subscription id, before its UUID. */
export const SUBSCRIPTION_PREFIX = 'wsub_';

/** Returns the public id of a subscription. The stored id is a bare UUID. */
export function subscriptionIdOf(uuid: string): string {
  return `${SUBSCRIPTION_PREFIX}${uuid}`;
}
