import type * as api from './generated/types.ts';
import type { Shape } from './http/shape.ts';

// Examples of answers (see `Shape`), with the members that the client uses.

const REFERENCE = { evidence_id: '', evidence_type: '' } as const;
export const SUBJECT = { subject_type: '', subject_id: '' } as const;
export const GRANT = { grant_id: '', scopes: [''], paths: { '?': [''] } } as const satisfies Shape<api.Grant>;
export const CREATED_GRANT: Shape<api.CreatedGrant> = GRANT;
export const PENDING_GRANT: Shape<api.PendingGrant> = GRANT;
export const REFRESH_REQUEST: Shape<api.RefreshRequest> = {
  refresh_request_id: '',
  subject: SUBJECT,
  requested_paths: [''],
};
export const SUBSCRIPTION: Shape<api.WebhookSubscription> = { subscription_id: '', event_types: [''] };
export const DELIVERY: Shape<api.Delivery> = { delivery_id: '', attempts: [{ latency_ms: 0 }] };
export const OPERATION: Shape<api.PatchOperation> = { op: '', path: '' };
export const UPDATE: Shape<api.Update> = { update_id: '', patch_ops: { '?': [OPERATION] } };
export const HEADER = {
  snapshot_id: '',
  snapshot_version: 0,
  envelope_hash: null,
  prev_hash: null,
} as const satisfies Shape<api.SnapshotHeader>;
/** An erased version has no envelope. */
export const VERSION: Shape<api.Snapshot> = {
  ...HEADER,
  subject: SUBJECT,
  generated_at: '',
  created_at: '',
  written_by: null,
  write_request_id: null,
  erased: { '?': { erasure_id: '', erased_at: '' } },
  envelope: {
    '?': {
      snapshot_id: '',
      snapshot_version: 0,
      generated_at: '',
      subject: SUBJECT,
      attributes: {},
      // A partial version has none.
      audit: { '?': { created_by: '', source: '' } },
      evidence: [REFERENCE],
      attribute_paths: { '?': { '*': [REFERENCE] } },
    },
  },
};
export const PERIOD: Shape<api.AccessPeriod> = GRANT;
export const ACCESSIBLE: Shape<api.AccessibleSubject> = { ...SUBJECT, ...GRANT };
export const ERASURE: Shape<api.Erasure> = { erasure_id: '', versions: [0] };
export const DISCLOSURE: Shape<api.Disclosure> = { via: '' };
export const LEAF: Shape<api.ProvedLeaf> = { path: '', since_version: 0, since: {}, evidence: [REFERENCE] };
export const TENANT: Shape<api.TenantItem> = { tenant_id: '' };
export const PRINCIPAL: Shape<api.Principal> = { principal_id: '' };
