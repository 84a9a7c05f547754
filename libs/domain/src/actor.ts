/** A principal that acts for a tenant. `decideAccess` decides whether it is allowed to. */
export interface Actor {
  tenantId: string;
  principalId: string;
}

/** An actor in a request that can change something. The audit trail records the principal and the request. */
export interface Acting extends Actor {
  requestId: string;
}

/** The principal of reads without a token (`GLOBAL_READS=public`). No token names this principal. */
export const ANYONE_ID = 'anyone';

/** The caller of a read. If `tenantId` is null (global routes), any tenant of the principal may authorize the read. */
export interface Reader {
  tenantId: string | null;
  principalId: string;
}
