/** The states of all objects (specification, "States and transitions"; contract). */

/** A `pending` member was invited, and has no rights until it accepts. */
export const MEMBER_STATUSES = ['pending', 'active', 'removed'] as const;
export type MemberStatus = (typeof MEMBER_STATUSES)[number];

export const TRANSFER_OFFER_STATUSES = ['pending', 'accepted', 'declined', 'cancelled', 'expired'] as const;
export type TransferOfferStatus = (typeof TRANSFER_OFFER_STATUSES)[number];

/** A `scheduled` grant has not started. */
export const GRANT_STATUSES = ['active', 'scheduled', 'revoked', 'expired'] as const;
export type GrantStatus = (typeof GRANT_STATUSES)[number];

/** The states of a request for a grant on all subjects that a second human has to confirm. */
export const PENDING_GRANT_STATUSES = ['pending', 'confirmed', 'cancelled', 'expired'] as const;
export type PendingGrantStatus = (typeof PENDING_GRANT_STATUSES)[number];

export const UPDATE_STATUSES = ['proposed', 'applied', 'withdrawn'] as const;
export type UpdateStatus = (typeof UPDATE_STATUSES)[number];

/** Why a version differs from the previous one: the world changed, or an error was corrected. */
export const CHANGE_KINDS = ['change', 'correction'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

export const REFRESH_REQUEST_STATUSES = ['pending', 'fulfilled', 'declined', 'cancelled', 'expired'] as const;
export type RefreshRequestStatus = (typeof REFRESH_REQUEST_STATUSES)[number];

/** On whose behalf a refresh is requested: the subject's owner or a counterparty. */
export const REFRESH_REQUEST_ORIGINS = ['owner', 'counterparty'] as const;
export type RefreshRequestOrigin = (typeof REFRESH_REQUEST_ORIGINS)[number];

/** Why no further request of a series is opened: the requesting tenant cancelled the series, or lost its access. */
export const REFRESH_SERIES_ENDS = ['cancelled', 'access_lost'] as const;
export type RefreshSeriesEnd = (typeof REFRESH_SERIES_ENDS)[number];

export const ERASURE_STATUSES = ['pending', 'erased', 'cancelled', 'expired'] as const;
export type ErasureStatus = (typeof ERASURE_STATUSES)[number];

/** Says whether a second human has to confirm, for example, an erasure. */
export const CONFIRMATIONS = ['required', 'off'] as const;
export type Confirmation = (typeof CONFIRMATIONS)[number];
/** The settings of a tenant that require a second human. */
export const CONFIRMATION_SETTINGS = ['erasure_confirmation', 'grant_confirmation'] as const;
export type ConfirmationSetting = (typeof CONFIRMATION_SETTINGS)[number];

export const SUBSCRIPTION_STATUSES = ['active', 'disabled'] as const;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

/** Why a delivery was skipped. */
export const SKIPPED_REASONS = ['subscription_inactive', 'no_grant'] as const;
export type SkippedReason = (typeof SKIPPED_REASONS)[number];

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'dead', 'skipped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/**
 * The phase in which an attempt failed. `proxy`: the request did not get past the proxy. `status`: the response was not
 * 2xx.
 */
export const FAILURE_PHASES = [
  'signing',
  'target',
  'dns',
  'blocked',
  'proxy',
  'connect',
  'tls',
  'timeout',
  'response',
  'status',
] as const;
export type FailurePhase = (typeof FAILURE_PHASES)[number];
/** The statuses after which nothing more happens automatically. */
export type FinishedDeliveryStatus = Exclude<DeliveryStatus, 'pending'>;

/**
 * The lists of a tenant's grants. `offered` has received grants on all subjects that were neither used nor accepted, and
 * `received` has all other received grants.
 */
export const GRANT_DIRECTIONS = ['issued', 'received', 'offered'] as const;
export type GrantDirection = (typeof GRANT_DIRECTIONS)[number];

/** `recorded` is the service's time (`created_at`), and `effective` the writer's time (`generated_at`). */
export const TIME_BASES = ['recorded', 'effective'] as const;
export type TimeBasis = (typeof TIME_BASES)[number];

/** A fault in the evidence of leaves of a latest version (docs/provenance.md). */
export const EVIDENCE_TO_MEND = ['missing', 'carried'] as const;
export type EvidenceToMend = (typeof EVIDENCE_TO_MEND)[number];
