import {
  REFRESH_REQUEST_ORIGINS,
  REFRESH_REQUEST_STATUSES,
  type RefreshRequestData,
  refreshRequestData,
} from '@iss/domain';
import { type RefreshRequestRecord } from '@iss/persistence';
import { named, object, type Schema, SUBJECT_REF, SUBJECT_TYPE, TIMESTAMP, UUID } from '../../http/describe/openapi';

/** What events carry, with both names of each field, and the message, which they don't carry. */
export interface RefreshRequestView extends RefreshRequestData {
  message: string | null;
}

export function refreshRequestView(request: RefreshRequestRecord): RefreshRequestView {
  return { ...refreshRequestData(request), message: request.message };
}

const TEXT: Schema = { type: 'string' };
const OPTIONAL_TEXT: Schema = { type: ['string', 'null'] };
const OPTIONAL_TIMESTAMP: Schema = { type: ['string', 'null'], format: 'date-time' };
const OPTIONAL_UUID: Schema = { type: ['string', 'null'], format: 'uuid' };
const alias = (schema: Schema, of: string): Schema => ({ ...schema, deprecated: true, description: `Alias of ${of}.` });

export const REFRESH_REQUEST = named(
  'RefreshRequest',
  object({
    refresh_request_id: UUID,
    request_id: alias(UUID, 'refresh_request_id'),
    subject: SUBJECT_REF,
    subject_type: alias(SUBJECT_TYPE, 'subject.subject_type'),
    subject_id: alias(TEXT, 'subject.subject_id'),
    requesting_tenant_id: TEXT,
    origin_type: {
      type: 'string',
      enum: REFRESH_REQUEST_ORIGINS,
      description: 'Set by the server: whether the requesting tenant owns the subject.',
    },
    status: { type: 'string', enum: REFRESH_REQUEST_STATUSES },
    reason_code: OPTIONAL_TEXT,
    message: OPTIONAL_TEXT,
    requested_paths: { type: 'array', items: TEXT },
    created_at: TIMESTAMP,
    expires_at: OPTIONAL_TIMESTAMP,
    resolved_at: OPTIONAL_TIMESTAMP,
    fulfilled_at: alias(OPTIONAL_TIMESTAMP, 'resolved_at'),
    resolved_snapshot_id: OPTIONAL_UUID,
    fulfilled_snapshot_id: alias(OPTIONAL_UUID, 'resolved_snapshot_id'),
    resolved_snapshot_version: { type: ['integer', 'null'] },
  }),
);

export const REFRESH_REQUEST_EXAMPLE = refreshRequestView({
  refreshRequestId: '9a4e1f0c-2b7d-4c3e-8f51-6d0a7b9c2e14',
  subjectType: 'organization',
  subjectId: 'acme-corp',
  requestingTenantId: 'beta',
  originType: 'counterparty',
  status: 'pending',
  reasonCode: 'stale_data',
  message: 'Please confirm the name.',
  requestedPaths: ['/attributes/legal/legal_name'],
  createdAt: new Date('2026-01-15T10:00:00Z'),
  expiresAt: null,
  resolvedAt: null,
  resolvedSnapshotId: null,
  resolvedSnapshotVersion: null,
});

const resolvedAt = '2026-01-16T08:00:00.000Z';
const snapshotId = '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10';

export const FULFILLED_EXAMPLE: RefreshRequestView = {
  ...REFRESH_REQUEST_EXAMPLE,
  status: 'fulfilled',
  resolved_at: resolvedAt,
  fulfilled_at: resolvedAt,
  resolved_snapshot_id: snapshotId,
  fulfilled_snapshot_id: snapshotId,
  resolved_snapshot_version: 1,
};
