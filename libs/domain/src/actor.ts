/** A principal acting for a tenant. Whether it may is decided by `decideAccess`, never by its name. */
export interface Actor {
  tenantId: string;
  principalId: string;
}

/** An actor in a request that may change something: the audit trail names both. */
export interface Acting extends Actor {
  requestId: string;
}

/** The principal of reads without a token (`GLOBAL_READS=public`). No token is of this principal. */
export const ANYONE_ID = 'anyone';

/** Who reads: an actor, or, with `tenantId` null, a principal for whichever of its tenants may (the global forms). */
export interface Reader {
  tenantId: string | null;
  principalId: string;
}
