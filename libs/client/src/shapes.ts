import type * as api from './generated/types.ts';
import type { AnswerShape } from './http/shape.ts';

// Examples of answers (see `AnswerShape`), with the members that the client uses.

const REFERENCE = { evidence_id: '', evidence_type: '' } as const;
export const SUBJECT = { subject_type: '', subject_id: '' } as const;
export const GRANT = { grant_id: '', scopes: [''], paths: { '?': [''] } } as const satisfies AnswerShape<api.Grant>;
export const CREATED_GRANT: AnswerShape<api.CreatedGrant> = GRANT;
export const PENDING_GRANT: AnswerShape<api.PendingGrant> = GRANT;
export const REFRESH_REQUEST: AnswerShape<api.RefreshRequest> = {
  refresh_request_id: '',
  subject: SUBJECT,
  requested_paths: [''],
};
export const SUBSCRIPTION: AnswerShape<api.WebhookSubscription> = { subscription_id: '', event_types: [''] };
export const DELIVERY: AnswerShape<api.Delivery> = { delivery_id: '', attempts: [{ latency_ms: 0 }] };
export const OPERATION: AnswerShape<api.PatchOperation> = { op: '', path: '' };
export const UPDATE: AnswerShape<api.Update> = { update_id: '', patch_ops: { '?': [OPERATION] } };
export const HEADER = {
  snapshot_id: '',
  snapshot_version: 0,
  envelope_hash: null,
  prev_hash: null,
} as const satisfies AnswerShape<api.SnapshotHeader>;
/** An erased version has no envelope. */
export const VERSION: AnswerShape<api.Snapshot> = {
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
export const PERIOD: AnswerShape<api.AccessPeriod> = GRANT;
export const ACCESSIBLE: AnswerShape<api.AccessibleSubject> = { ...SUBJECT, ...GRANT };
export const ERASURE: AnswerShape<api.Erasure> = { erasure_id: '', versions: [0] };
export const DISCLOSURE: AnswerShape<api.Disclosure> = { via: '' };
export const LEAF: AnswerShape<api.ProvedLeaf> = { path: '', since_version: 0, since: {}, evidence: [REFERENCE] };
export const TENANT: AnswerShape<api.TenantItem> = { tenant_id: '' };
export const PRINCIPAL: AnswerShape<api.Principal> = { principal_id: '' };
