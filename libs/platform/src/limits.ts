import { availableParallelism } from 'node:os';
import { DomainError } from '@iss/domain';
import { type Bound, defaultsOf } from './variables';

export { MAX_LIMIT_VALUE } from './variables';

/** Contract "Numbers". Each limit is one environment variable: default, and the least and the most it may be set to. */
export const LIMITS = {
  /** Request bodies in bytes: an envelope of 1 MiB still parses, hashes and stores in well under 100 ms. */
  bodyBytes: { variable: 'BODY_LIMIT_BYTES', min: 1024, max: 67_108_864, default: 1_048_576 },
  /** Nesting of JSON: recursion over a stored document must never meet the end of the stack. */
  jsonDepth: { variable: 'JSON_MAX_DEPTH', min: 8, max: 512, default: 64 },
  /** Operations of one patch: each is applied twice, when proposed and when applied. */
  patchOperations: { variable: 'PATCH_MAX_OPERATIONS', min: 1, max: 100_000, default: 1000 },
  /** `requested_paths` of a refresh request: a person reads them. */
  requestedPaths: { variable: 'REQUESTED_PATHS_MAX', min: 1, max: 10_000, default: 100 },
  /** `event_types` of a webhook subscription: more than there are types. */
  eventTypes: { variable: 'EVENT_TYPES_MAX', min: 1, max: 100, default: 16 },
  /** `depth` with `verify=chain`: so many envelopes are read and hashed for one answer. */
  verifyDepth: { variable: 'VERIFY_MAX_DEPTH', min: 1, max: 100_000, default: 1000 },
  /** Page of a history; one with envelopes ends at 8 MiB of them, too. */
  historyPage: { variable: 'HISTORY_PAGE_MAX', min: 1, max: 1000, default: 200 },
  /** Page of a chain proof: four short members an item. */
  chainProofPage: { variable: 'CHAIN_PROOF_PAGE_MAX', min: 1, max: 10_000, default: 200 },
  /** Snapshots in one JSON export; the NDJSON form streams and has no limit. */
  exportSnapshots: { variable: 'EXPORT_MAX_SNAPSHOTS', min: 1, max: 100_000, default: 1000 },
  /** Versions of one erasure: all of them are erased in one transaction, and named in its entry of the log. */
  erasureVersions: { variable: 'ERASURE_MAX_VERSIONS', min: 1, max: 10_000, default: 1000 },
  /** A bearer token in bytes: read before it is trusted. */
  tokenBytes: { variable: 'TOKEN_MAX_BYTES', min: 1024, max: 65_536, default: 8192 },
  /** A batch of envelopes in bytes, of which some MiB are in memory: what a client sends again when its connection breaks. */
  batchBytes: { variable: 'BATCH_LIMIT_BYTES', min: 1024, max: 4_294_967_296, default: 67_108_864 },
  /** Lines of a batch: as many short ones as its bytes hold. */
  batchLines: { variable: 'BATCH_MAX_LINES', min: 1, max: 10_000_000, default: 100_000 },
  /**
   * Batches of which a gateway has all lines in flight that one batch may have, 4 MiB each. Eight times as many may be open,
   * which hold little more than the line that is coming; of one principal as many as this.
   */
  batches: { variable: 'MAX_BATCHES', min: 1, max: 1000, default: 8 },
  /** The least rate of a batch: in so long of waiting for its client one line ends. A whole request has as long. */
  batchLineMs: { variable: 'BATCH_LINE_TIMEOUT_MS', min: 10, max: 600_000, default: 30_000 },
  /** Grants of one request: so many texts of a kilobyte a body holds, and they are made in a second or two. */
  grantBatch: { variable: 'GRANT_BATCH_MAX', min: 1, max: 10_000, default: 1000 },
} as const satisfies Readonly<Record<string, Bound>>;

export type Limits = Readonly<Record<keyof typeof LIMITS, number>>;

/** What heavy work may take of a gateway beside the thread that serves everybody. */
export const WORK_LIMITS = {
  /** Threads for it: one core is left to the thread that serves, and more than four only take memory. */
  threads: { variable: 'WORK_THREADS', min: 1, max: 64, default: Math.min(4, Math.max(1, availableParallelism() - 1)) },
  /** Tasks that wait for a thread, each with its texts in memory: some MiB. */
  queue: { variable: 'WORK_QUEUE_MAX', min: 1, max: 10_000, default: 32 },
  /** For so long a task may wait, and for so long run: ten times what the largest ones take. */
  deadlineMs: { variable: 'WORK_DEADLINE_MS', min: 1, max: 600_000, default: 10_000 },
  /** For one chain, which is verified in many tasks: a thousand snapshots of 1 MiB take some seconds. */
  verifyDeadlineMs: { variable: 'VERIFY_DEADLINE_MS', min: 1, max: 600_000, default: 30_000 },
} as const satisfies Readonly<Record<string, Bound>>;

export type WorkLimits = Readonly<Record<keyof typeof WORK_LIMITS, number>>;

/** What callers may hold of the gateway before anything is known of them. Past each the connection is closed. */
export const CONNECTION_LIMITS = {
  /** Open at once: each costs memory, and load balancers keep tens. */
  maxConnections: { variable: 'MAX_CONNECTIONS', min: 1, max: 1_000_000, default: 5000 },
  /** Of one IPv4 address or IPv6 /64; 0: any number, since behind a proxy all have the proxy's. */
  perAddress: { variable: 'MAX_CONNECTIONS_PER_ADDRESS', min: 0, max: 1_000_000, default: 0 },
  /**
   * Requests of one connection that wait for their answers: hardly any client sends a second one before the first answer,
   * and one of 40 bytes is an object of some kilobytes.
   */
  pipelined: { variable: 'MAX_PIPELINED_REQUESTS', min: 1, max: 10_000, default: 64 },
  /** For so long a peer may take nothing of its answer. */
  writeTimeoutMs: { variable: 'WRITE_TIMEOUT_MS', min: 10, max: 600_000, default: 60_000 },
  /** Of answers that their peers have not taken, in all: an eighth of the memory that a gateway is given, since a text is there twice. */
  unsentBytes: { variable: 'MAX_UNSENT_BYTES', min: 1_048_576, max: 68_719_476_736, default: 67_108_864 },
} as const satisfies Readonly<Record<string, Bound>>;

export type ConnectionLimits = Readonly<Record<keyof typeof CONNECTION_LIMITS, number>>;

/** The defaults, for tests. */
export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = defaultsOf(CONNECTION_LIMITS);

/** Whose use is counted, and who may have a value of its own (`iss admin limits`). */
export type LimitScope = 'tenant' | 'principal';

interface Cap {
  variable: string;
  default: number;
  scope: LimitScope;
  /** What is counted. */
  counts: string;
  reason: string;
  /** What the caller can do itself, besides asking the operator. */
  wayOut: string;
}

/** How much one tenant or principal may hold; past it `limit_reached`. The names stand in errors and in overrides. */
export const CAPS = {
  tenants_per_principal: {
    variable: 'MAX_TENANTS_PER_PRINCIPAL',
    default: 1_000,
    scope: 'principal',
    counts: 'tenants that a principal founded',
    reason: 'each has members, subscriptions and proposals of its own, which multiplies all other caps',
    wayOut: 'Use a tenant that you have',
  },
  members_per_tenant: {
    variable: 'MAX_MEMBERS_PER_TENANT',
    default: 10_000,
    scope: 'tenant',
    counts: 'active members of a tenant',
    reason: 'every change of a member looks for another owner among them',
    wayOut: 'Remove a member',
  },
  subscriptions_per_tenant: {
    variable: 'MAX_SUBSCRIPTIONS_PER_TENANT',
    default: 100,
    scope: 'tenant',
    counts: 'webhook subscriptions of a tenant, disabled ones included',
    reason: 'each event becomes as many deliveries',
    wayOut: 'Delete a subscription',
  },
  pending_updates_per_subject: {
    variable: 'MAX_PENDING_UPDATES_PER_SUBJECT',
    default: 100,
    scope: 'tenant',
    counts: 'updates of a subject that are `proposed`',
    reason: 'of those on one version a single one can be applied',
    wayOut: 'Apply or withdraw a proposal of the subject',
  },
  pending_updates_per_tenant: {
    variable: 'MAX_PENDING_UPDATES_PER_TENANT',
    default: 10_000,
    scope: 'tenant',
    counts: 'updates of a tenant that are `proposed`',
    reason: 'each keeps up to a megabyte of operations',
    wayOut: 'Apply or withdraw proposals',
  },
  pending_refresh_requests: {
    variable: 'MAX_PENDING_REFRESH_REQUESTS',
    default: 10,
    scope: 'tenant',
    counts: 'refresh requests of a requesting tenant on one subject that are pending, or whose next one is planned',
    reason: 'each is an event for another tenant',
    wayOut: 'Cancel one, or wait until the owner answers one or one expires',
  },
  live_grants_per_subject: {
    variable: 'MAX_LIVE_GRANTS_PER_SUBJECT',
    default: 10_000,
    scope: 'tenant',
    counts: 'grants on a subject that are neither revoked nor expired',
    reason: 'global reads look among them for one that the caller may use',
    wayOut: 'Revoke a grant on the subject',
  },
  live_grants_per_tenant_to_all: {
    variable: 'MAX_LIVE_GRANTS_PER_TENANT_TO_ALL',
    default: 10_000,
    scope: 'tenant',
    counts: 'grants of a tenant on all of its subjects that are neither revoked nor expired',
    reason: 'global reads of each subject look among them for one that the caller may use',
    wayOut: 'Revoke a grant on all subjects',
  },
  idempotency_keys_per_day: {
    variable: 'MAX_IDEMPOTENCY_KEYS_PER_DAY',
    default: 100_000,
    scope: 'principal',
    counts: 'requests of a principal with a new `Idempotency-Key`, in a day of UTC',
    reason: 'the answer to each is kept for 24 hours',
    wayOut: 'Wait until the day ends at 00:00 UTC, or send the request without the header',
  },
} as const satisfies Readonly<Record<string, Cap>>;

export type CapName = keyof typeof CAPS;
/** The caps of a deployment, by name. */
export type Caps = Readonly<Record<CapName, number>>;

/** The defaults. */
export const DEFAULT_CAPS: Caps = defaultsOf(CAPS);

/** The refusal of what would pass a cap: which one, how much it is, and the ways out. */
export function limitReached(name: CapName, value: number): DomainError {
  const { scope, counts, wayOut } = CAPS[name];
  return new DomainError(
    'limit_reached',
    `The limit ${name} is reached: ${value.toLocaleString('en')} ${counts}. ${wayOut}, ` +
      `or ask the operator of this service to raise it for the ${scope}.`,
  );
}

/** How fast callers may ask. */
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

/** What an operator may set for one tenant or principal, with whose it is. */
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
