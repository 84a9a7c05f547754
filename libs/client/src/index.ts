/**
 * The client of the Identity State Service. Its manual is `docs/client.md`.
 *
 * @packageDocumentation
 */
export {
  type EventType,
  verifyWebhook,
  type WebhookEvent,
  type WebhookFailure,
  type WebhookHeaders,
  type WebhookOptions,
  WebhookVerificationError,
} from './webhook.ts';
export { type AsOf, type ChangeOptions, Subject } from './subject.ts';
export type { HistoryOptions } from './history.ts';
export { IdentityState, type IdentityStateOptions, type RawRequest } from './identity-state.ts';
export { type AccessibleFilter, type SubjectFilter, Tenant } from './tenant.ts';
export { type ChangesOptions, momentOfChange } from './versions/changes.ts';
export type { ImportOptions, ImportProgress, ImportRecord, ImportReport, Refusal } from './versions/import.ts';
export {
  type CreatedSubscription,
  type DeliveryFilter,
  Grants,
  PendingGrants,
  Membership,
  type DisclosureFilter,
  type GrantFilter,
  type ProvenanceFilter,
  type RefreshRequestFilter,
  RefreshRequests,
  type Scope,
  Webhooks,
} from './resources.ts';
export { compare, patchOf } from './versions/compare.ts';
export type { ReadOptions } from './versions/read.ts';
export type * from './types.ts';
export type * as api from './generated/types.ts';
export type {
  Answer,
  Body,
  OperationParameters,
  Filter,
  Item,
  ListPath,
  OperationQuery,
  Path,
  RequestOptions,
} from './http/operation.ts';
export { fillPath } from './http/transport.ts';
export type { CallOptions, Method, Query, TokenContext, TokenSource, TransportOptions } from './http/transport.ts';
export * from './errors.ts';
export type { Trust } from './verify/trust.ts';
export { MemoryTrustStore, type TrustStore } from './verify/trust-store.ts';
export { type Verification, verificationOf } from './verify/verifier.ts';
export type { LogPlace, ProvedAbsence, ProvedCheckpoint, ProvedGrantState } from './verify/log.ts';
