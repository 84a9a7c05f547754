import { availableParallelism } from 'node:os';
import { DomainError } from '@iss/domain';
import { type Bound, defaultsOf } from './variables';

export { MAX_LIMIT_VALUE } from './variables';

/** Limits of the contract, "Numbers". Each is one environment variable with a default, a minimum and a maximum. */
export const LIMITS = {
  /** Request bodies in bytes: an envelope of 1 MiB is parsed, hashed and stored in well under 100 ms. */
  bodyBytes: { variable: 'BODY_LIMIT_BYTES', min: 1024, max: 67_108_864, default: 1_048_576 },
  /** Nesting of JSON: recursion over a stored document must never exhaust the stack. */
  jsonDepth: { variable: 'JSON_MAX_DEPTH', min: 8, max: 512, default: 64 },
  /** Operations of one patch: each is applied twice, at the proposal and at its application. */
  patchOperations: { variable: 'PATCH_MAX_OPERATIONS', min: 1, max: 100_000, default: 1000 },
  /** `requested_paths` of a refresh request: a person reads them. */
  requestedPaths: { variable: 'REQUESTED_PATHS_MAX', min: 1, max: 10_000, default: 100 },
  /** `event_types` of a webhook subscription. */
  eventTypes: { variable: 'EVENT_TYPES_MAX', min: 1, max: 100, default: 16 },
  /** `depth` with `verify=chain`: the number of envelopes that are read and hashed for one response. */
  verifyDepth: { variable: 'VERIFY_MAX_DEPTH', min: 1, max: 100_000, default: 1000 },
  /** Page of a history. A page with envelopes also ends at 8 MiB. */
  historyPage: { variable: 'HISTORY_PAGE_MAX', min: 1, max: 1000, default: 200 },
  /** Page of a chain proof. An item has four short members. */
  chainProofPage: { variable: 'CHAIN_PROOF_PAGE_MAX', min: 1, max: 10_000, default: 200 },
  /** Snapshots in one JSON export. The NDJSON form streams and has no limit. */
  exportSnapshots: { variable: 'EXPORT_MAX_SNAPSHOTS', min: 1, max: 100_000, default: 1000 },
  /** Versions of one erasure: all of them are erased in one transaction and named in its log entry. */
  erasureVersions: { variable: 'ERASURE_MAX_VERSIONS', min: 1, max: 10_000, default: 1000 },
  /** A bearer token in bytes: it is read before it is trusted. */
  tokenBytes: { variable: 'TOKEN_MAX_BYTES', min: 1024, max: 65_536, default: 8192 },
  /**
   * A batch of envelopes in bytes. Only some MiB are in memory. A client repeats at most this much after a lost
   * connection.
   */
  batchBytes: { variable: 'BATCH_LIMIT_BYTES', min: 1024, max: 4_294_967_296, default: 67_108_864 },
  /** Lines of a batch: as many short ones as fit into its bytes. */
  batchLines: { variable: 'BATCH_MAX_LINES', min: 1, max: 10_000_000, default: 100_000 },
  /**
   * Batches per gateway that may have all their lines in flight, 4 MiB each. Eight times as many may be open, with
   * little more than the incoming line in memory. One principal may have as many open as this.
   */
  batches: { variable: 'MAX_BATCHES', min: 1, max: 1000, default: 8 },
  /** The maximum wait for a batch's next line, which sets its minimum rate. A whole request may wait as long. */
  batchLineMs: { variable: 'BATCH_LINE_TIMEOUT_MS', min: 10, max: 600_000, default: 30_000 },
  /**
   * The number of grants in one request. A body has room for so many grants of a kilobyte each, and the service creates
   * them within two seconds.
   */
  grantBatch: { variable: 'GRANT_BATCH_MAX', min: 1, max: 10_000, default: 1000 },
} as const satisfies Readonly<Record<string, Bound>>;

export type Limits = Readonly<Record<keyof typeof LIMITS, number>>;

/** Limits of heavy work in a gateway besides the thread that serves requests. */
export const WORK_LIMITS = {
  /** Threads for heavy work: one core is left to the serving thread, and more than four only cost memory. */
  threads: { variable: 'WORK_THREADS', min: 1, max: 64, default: Math.min(4, Math.max(1, availableParallelism() - 1)) },
  /** Tasks that wait for a thread. Each has its texts in memory: some MiB. */
  queue: { variable: 'WORK_QUEUE_MAX', min: 1, max: 10_000, default: 32 },
  /** The maximum wait and the maximum run time of a task: ten times what the largest ones take. */
  deadlineMs: { variable: 'WORK_DEADLINE_MS', min: 1, max: 600_000, default: 10_000 },
  /** For one chain, which is verified in many tasks: a thousand snapshots of 1 MiB take some seconds. */
  verifyDeadlineMs: { variable: 'VERIFY_DEADLINE_MS', min: 1, max: 600_000, default: 30_000 },
} as const satisfies Readonly<Record<string, Bound>>;

/** Limits for unauthenticated peers. A connection that exceeds one is closed. */
export const CONNECTION_LIMITS = {
  /** Open connections: each costs memory, and load balancers keep tens. */
  maxConnections: { variable: 'MAX_CONNECTIONS', min: 1, max: 1_000_000, default: 5000 },
  /** Connections per IPv4 address or IPv6 /64; 0 for no limit, because behind a proxy all have the proxy's address. */
  perAddress: { variable: 'MAX_CONNECTIONS_PER_ADDRESS', min: 0, max: 1_000_000, default: 0 },
  /**
   * Requests of one connection that wait for their responses. Clients rarely send a second request before the first
   * response, and a request of 40 bytes becomes an object of some kilobytes.
   */
  pipelined: { variable: 'MAX_PIPELINED_REQUESTS', min: 1, max: 10_000, default: 64 },
  /** How long a peer may read nothing of its response. */
  writeTimeoutMs: { variable: 'WRITE_TIMEOUT_MS', min: 10, max: 600_000, default: 60_000 },
  /** Unread responses in total: an eighth of a gateway's memory, because each text is there twice. */
  unsentBytes: { variable: 'MAX_UNSENT_BYTES', min: 1_048_576, max: 68_719_476_736, default: 67_108_864 },
} as const satisfies Readonly<Record<string, Bound>>;

export type ConnectionLimits = Readonly<Record<keyof typeof CONNECTION_LIMITS, number>>;

/** The defaults, for tests. */
export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = defaultsOf(CONNECTION_LIMITS);

/** The kind of caller that a limit applies to and that may have its own value (`iss admin limits`). */
export type LimitScope = 'tenant' | 'principal';

interface Cap {
  variable: string;
  default: number;
  scope: LimitScope;
  /** The counted items. */
  counts: string;
  reason: string;
  /** The remedy of callers themselves, besides asking the operator. */
  remedy: string;
}

/**
 * How much one tenant or principal may hold; above it, `limit_reached`. The names appear in errors and in overrides.
 */
export const CAPS = {
  tenants_per_principal: {
    variable: 'MAX_TENANTS_PER_PRINCIPAL',
    default: 1_000,
    scope: 'principal',
    counts: 'tenants that a principal founded',
    reason: 'each has members, subscriptions and proposals of its own, which multiplies all other caps',
    remedy: 'Use a tenant that you have',
  },
  members_per_tenant: {
    variable: 'MAX_MEMBERS_PER_TENANT',
    default: 10_000,
    scope: 'tenant',
    counts: 'active members of a tenant',
    reason: 'every change of a member searches them for another owner',
    remedy: 'Remove a member',
  },
  subscriptions_per_tenant: {
    variable: 'MAX_SUBSCRIPTIONS_PER_TENANT',
    default: 100,
    scope: 'tenant',
    counts: 'webhook subscriptions of a tenant, disabled ones included',
    reason: 'each event becomes as many deliveries',
    remedy: 'Delete a subscription',
  },
  pending_updates_per_subject: {
    variable: 'MAX_PENDING_UPDATES_PER_SUBJECT',
    default: 100,
    scope: 'tenant',
    counts: 'updates of a subject that are `proposed`',
    reason: 'only one of those on the same version can be applied',
    remedy: 'Apply or withdraw a proposal of the subject',
  },
  pending_updates_per_tenant: {
    variable: 'MAX_PENDING_UPDATES_PER_TENANT',
    default: 10_000,
    scope: 'tenant',
    counts: 'updates of a tenant that are `proposed`',
    reason: 'each keeps up to a megabyte of operations',
    remedy: 'Apply or withdraw proposals',
  },
  pending_refresh_requests: {
    variable: 'MAX_PENDING_REFRESH_REQUESTS',
    default: 10,
    scope: 'tenant',
    counts: 'refresh requests of a requesting tenant on one subject that are pending, or whose next one is planned',
    reason: 'each is an event for another tenant',
    remedy: 'Cancel a request, or wait until one is answered or expires',
  },
  live_grants_per_subject: {
    variable: 'MAX_LIVE_GRANTS_PER_SUBJECT',
    default: 10_000,
    scope: 'tenant',
    counts: 'grants on a subject that are neither revoked nor expired',
    reason: 'global reads look among them for one that the caller may use',
    remedy: 'Revoke a grant on the subject',
  },
  live_grants_per_tenant_to_all: {
    variable: 'MAX_LIVE_GRANTS_PER_TENANT_TO_ALL',
    default: 10_000,
    scope: 'tenant',
    counts: 'grants of a tenant on all of its subjects that are neither revoked nor expired',
    reason: 'global reads of each subject look among them for one that the caller may use',
    remedy: 'Revoke a grant on all subjects',
  },
  trusted_issuers_per_tenant: {
    variable: 'MAX_TRUSTED_ISSUERS_PER_TENANT',
    default: 100,
    scope: 'tenant',
    counts: 'issuers whose credentials a tenant accepts as evidence',
    reason: 'an administrator has to know each',
    remedy: 'Remove a trusted issuer',
  },
  attestations_per_tenant: {
    variable: 'MAX_ATTESTATIONS_PER_TENANT',
    default: 10_000,
    scope: 'tenant',
    counts: 'attestations of a tenant that are neither expired nor revoked',
    reason: 'the status of each is asked every hour',
    remedy: 'Wait until attestations expire',
  },
  pending_presentation_requests: {
    variable: 'MAX_PENDING_PRESENTATION_REQUESTS',
    default: 100,
    scope: 'tenant',
    counts: 'requests of a tenant to wallets that are `pending`',
    reason: 'anybody may send answers to each, and each answer costs processor time',
    remedy: 'Wait until requests are answered or expire',
  },
  issuing_keys_per_tenant: {
    variable: 'MAX_ISSUING_KEYS_PER_TENANT',
    default: 100,
    scope: 'tenant',
    counts: 'keys of a tenant that verifiers of its credentials need',
    reason: 'verifiers read all of them at once',
    remedy: 'Wait until the credentials of former keys expire, or retire a former key',
  },
  credentials_per_tenant: {
    variable: 'MAX_CREDENTIALS_PER_TENANT',
    default: 10_000,
    scope: 'tenant',
    counts: 'credentials that a tenant issued and that are neither expired nor invalid',
    reason: 'each has a place in a status list, and a new version changes the status of all of its subject',
    remedy: 'Withdraw credentials, or wait until they expire',
  },
  open_offers_per_tenant: {
    variable: 'MAX_OPEN_OFFERS_PER_TENANT',
    default: 1_000,
    scope: 'tenant',
    counts: 'credential offers that wallets can take',
    reason: 'each gives whoever sees it a credential, and is open for minutes',
    remedy: 'Wait until offers are taken or expire',
  },
  idempotency_keys_per_day: {
    variable: 'MAX_IDEMPOTENCY_KEYS_PER_DAY',
    default: 100_000,
    scope: 'principal',
    counts: 'requests of a principal with a new `Idempotency-Key`, in a day of UTC',
    reason: 'the answer to each is kept for 24 hours',
    remedy: 'Wait until the day ends at 00:00 UTC, or send the request without the header',
  },
} as const satisfies Readonly<Record<string, Cap>>;

export type CapName = keyof typeof CAPS;
/** The caps of a deployment, by name. */
export type Caps = Readonly<Record<CapName, number>>;

/** The defaults. */
export const DEFAULT_CAPS: Caps = defaultsOf(CAPS);

/** Returns the refusal for an exceeded cap, with its name, its value and the remedies. */
export function limitReached(name: CapName, value: number): DomainError {
  const { scope, counts, remedy } = CAPS[name];
  return new DomainError(
    'limit_reached',
    `The limit ${name} is reached: ${value.toLocaleString('en')} ${counts}. ${remedy}, ` +
      `or ask the operator of this service to raise it for the ${scope}.`,
  );
}

/** Limits for the rate of requests. */
export const RATES = {
  requests_per_minute: {
    variable: 'RATE_LIMIT_PER_MINUTE',
    default: 600,
    scope: 'principal',
    counts: 'requests of a principal in a minute, over all gateways',
    reason: 'ten a second: above what people and integrations need, far below what one gateway can do',
  },
  anonymous_requests_per_minute: {
    variable: 'RATE_LIMIT_PER_MINUTE_ANONYMOUS',
    default: 60,
    scope: 'address',
    counts: 'requests without a valid token from one IPv4 address or IPv6 /64 in a minute, of each gateway',
    reason: 'a page of documentation and a few tries with a stale token',
  },
} as const;

/** The limits that an operator can set for one tenant or principal. */
export const OVERRIDABLE = {
  ...CAPS,
  requests_per_minute: RATES.requests_per_minute,
} as const;
export type OverridableName = keyof typeof OVERRIDABLE;

export function isOverridable(name: string): name is OverridableName {
  return Object.hasOwn(OVERRIDABLE, name);
}

/** The defaults, for tests and for documentation. */
export const DEFAULT_LIMITS: Limits = defaultsOf(LIMITS);
