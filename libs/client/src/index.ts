/**
 * The client of the Identity State Service: `docs/client.md` shows how it is used.
 *
 * @packageDocumentation
 */
export { IdentityState, type IdentityStateOptions, type RawRequest } from './identity-state.ts';
export { Tenant } from './tenant.ts';
export { type AsOf, Subject } from './subject.ts';
export type { ReadOptions } from './read.ts';
export type * from './types.ts';
export type * as api from './generated/types.ts';
export type { CallOptions, Method, Query, TokenContext, TokenSource, TransportOptions } from './http/transport.ts';
export * from './errors.ts';
export type { Trust } from './verify/trust.ts';
export { MemoryTrustStore, type TrustStore } from './verify/trust-store.ts';
export { type Verification, verificationOf } from './verify/verifier.ts';
export type { LogPlace, ProvedCheckpoint } from './verify/log.ts';
