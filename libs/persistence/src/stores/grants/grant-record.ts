import type { GrantStatus, PendingGrantStatus, Scope, SubjectRef } from '@iss/domain';

/** A grant on one subject or on `ALL_SUBJECTS`. Its status is that of the moment it was read. */
export interface GrantRecord extends SubjectRef {
  grantId: string;
  grantorTenantId: string;
  granteeTenantId: string;
  scopes: readonly Scope[];
  /** The JSON Pointers that it shows, sorted; null: everything. */
  paths: readonly string[] | null;
  /** It gives no rights before; null: from its creation on. */
  startsAt: Date | null;
  expiresAt: Date | null;
  createdAt: Date;
  revokedAt: Date | null;
  status: GrantStatus;
  /** The principal that made it; null for a grant of an earlier release, which did not store it. */
  grantedBy: string | null;
  purpose: string | null;
  /**
   * When its grantee accepted it, explicitly or by use. Until then a grant on all subjects allows every read, but appears in no
   * list and no feed of the grantee.
   */
  acceptedAt: Date | null;
}

/** A grant in a list, with the name of its subject for the subject's owner. */
export interface ListedGrant extends GrantRecord {
  name: string | null;
}

/** A request for a grant on all subjects. Its status is that of the moment it was read. It gives no rights. */
export interface PendingGrantRecord {
  /** The id that the grant will get. */
  grantId: string;
  grantorTenantId: string;
  granteeTenantId: string;
  scopes: readonly Scope[];
  /** The JSON Pointers that it shows, sorted; null: everything. */
  paths: readonly string[] | null;
  /** It gives no rights before; null: from its creation on. */
  startsAt: Date | null;
  expiresAt: Date | null;
  purpose: string | null;
  status: PendingGrantStatus;
  requestedBy: string;
  createdAt: Date;
  confirmBy: Date;
  confirmedBy: string | null;
  confirmedAt: Date | null;
  cancelledBy: string | null;
  cancelledAt: Date | null;
}
