import { z } from 'zod';
import { wholeNumber } from './variables';

/** Contract "Numbers". Each limit is one environment variable: default, and the least and the most it may be set to. */
export const limitVariables = {
  /** Request bodies in bytes: an envelope of 1 MiB still parses, hashes and stores in well under 100 ms. */
  BODY_LIMIT_BYTES: wholeNumber(1024, 67_108_864).default(1_048_576),
  /** Nesting of JSON: recursion over a stored document must never meet the end of the stack. */
  JSON_MAX_DEPTH: wholeNumber(8, 512).default(64),
  /** Operations of one patch: each is applied twice, when proposed and when applied. */
  PATCH_MAX_OPERATIONS: wholeNumber(1, 100_000).default(1000),
  /** `requested_paths` of a refresh request: a person reads them. */
  REQUESTED_PATHS_MAX: wholeNumber(1, 10_000).default(100),
  /** `event_types` of a webhook subscription: more than there are types. */
  EVENT_TYPES_MAX: wholeNumber(1, 100).default(16),
  /** `depth` with `verify=chain`: so many envelopes are read and hashed for one answer. */
  VERIFY_MAX_DEPTH: wholeNumber(1, 100_000).default(1000),
  /** Page of a history: at 1 MiB an envelope the worst answer is 200 MiB, streamed from stored text. */
  HISTORY_PAGE_MAX: wholeNumber(1, 1000).default(200),
  /** Page of a chain proof: four short members an item. */
  CHAIN_PROOF_PAGE_MAX: wholeNumber(1, 10_000).default(200),
  /** Snapshots in one JSON export; the NDJSON form streams and has no limit. */
  EXPORT_MAX_SNAPSHOTS: wholeNumber(1, 100_000).default(1000),
  /** A bearer token in bytes: read before it is trusted. */
  TOKEN_MAX_BYTES: wholeNumber(1024, 65_536).default(8192),
};

export interface Limits {
  bodyBytes: number;
  jsonDepth: number;
  patchOperations: number;
  requestedPaths: number;
  eventTypes: number;
  verifyDepth: number;
  historyPage: number;
  chainProofPage: number;
  exportSnapshots: number;
  tokenBytes: number;
}

/** What callers may hold of the gateway before anything is known of them. Past each the connection is closed. */
export const connectionVariables = {
  /** Open at once: each costs memory, and load balancers keep tens. */
  MAX_CONNECTIONS: wholeNumber(1, 1_000_000).default(5000),
  /** Of one IPv4 address or IPv6 /64; 0: any number, since behind a proxy all have the proxy's. */
  MAX_CONNECTIONS_PER_ADDRESS: wholeNumber(0, 1_000_000).default(0),
  /**
   * Requests of one connection that wait for their answers: hardly any client sends a second one before the first answer,
   * and one of 40 bytes is an object of some kilobytes.
   */
  MAX_PIPELINED_REQUESTS: wholeNumber(1, 10_000).default(16),
  /** For so long a peer may take nothing of its answer. */
  WRITE_TIMEOUT_MS: wholeNumber(10, 600_000).default(60_000),
  /** Of answers that their peers have not taken, in all: an eighth of the memory that a gateway is given, since a text is there twice. */
  MAX_UNSENT_BYTES: wholeNumber(1_048_576, 68_719_476_736).default(67_108_864),
};

export interface ConnectionLimits {
  maxConnections: number;
  /** 0: no limit. */
  perAddress: number;
  pipelined: number;
  writeTimeoutMs: number;
  unsentBytes: number;
}

const connectionSchema = z.object(connectionVariables);

/** The limits of connections that the variables set. */
export function toConnectionLimits(env: z.output<typeof connectionSchema>): ConnectionLimits {
  return {
    maxConnections: env.MAX_CONNECTIONS,
    perAddress: env.MAX_CONNECTIONS_PER_ADDRESS,
    pipelined: env.MAX_PIPELINED_REQUESTS,
    writeTimeoutMs: env.WRITE_TIMEOUT_MS,
    unsentBytes: env.MAX_UNSENT_BYTES,
  };
}

/** The defaults, for tests. */
export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = toConnectionLimits(connectionSchema.parse({}));

const schema = z.object(limitVariables);

/** The limits that the variables set. */
export function toLimits(env: z.output<typeof schema>): Limits {
  return {
    bodyBytes: env.BODY_LIMIT_BYTES,
    jsonDepth: env.JSON_MAX_DEPTH,
    patchOperations: env.PATCH_MAX_OPERATIONS,
    requestedPaths: env.REQUESTED_PATHS_MAX,
    eventTypes: env.EVENT_TYPES_MAX,
    verifyDepth: env.VERIFY_MAX_DEPTH,
    historyPage: env.HISTORY_PAGE_MAX,
    chainProofPage: env.CHAIN_PROOF_PAGE_MAX,
    exportSnapshots: env.EXPORT_MAX_SNAPSHOTS,
    tokenBytes: env.TOKEN_MAX_BYTES,
  };
}

/** The defaults, for tests and for documentation. */
export const DEFAULT_LIMITS: Limits = toLimits(schema.parse({}));
