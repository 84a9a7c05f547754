import type { PrincipalType } from '@iss/domain';

/** The authenticated caller (specification, "Authentication" 2 and 7). */
export interface Principal {
  /** `oidc:{projectId}#{sub}`. A project id contains no `#`, so the name is unambiguous. */
  readonly principalId: string;
  /** The token's `sub`. */
  readonly subject: string;
  /** The type that the token claims. A membership's stored type overrides it. */
  readonly claimedType: PrincipalType;
}

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the guard on every route that is not public. */
    principal?: Principal;
  }
}
