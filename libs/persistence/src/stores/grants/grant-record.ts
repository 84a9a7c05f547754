import type { GrantStatus, PendingGrantStatus, Scope, SubjectRef } from '@iss/domain';
import type { Columns } from '../../sql/columns';
import { grantedColumns } from '../facts/access-facts';

/** A grant with its status by the clock of the moment it was read; on a subject, or on `ALL_SUBJECTS`. */
export interface GrantRecord extends SubjectRef {
  grantId: string;
  grantorTenantId: string;
  granteeTenantId: string;
  scopes: readonly Scope[];
  expiresAt: Date | null;
  createdAt: Date;
  revokedAt: Date | null;
  status: GrantStatus;
  /** Who made it; null where that was not kept yet. */
  grantedBy: string | null;
  purpose: string | null;
  /**
   * When its grantee accepted it, by use or in words. Until then a grant on all subjects opens every read, and shows in no list and no
   * feed of the grantee.
   */
  acceptedAt: Date | null;
}

/** A request for a grant on all subjects, with its status by the clock of the moment it was read. It gives no rights. */
export interface PendingGrantRecord {
  /** The id that the grant gets. */
  grantId: string;
  grantorTenantId: string;
  granteeTenantId: string;
  scopes: readonly Scope[];
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

/** What an acceptance sets of grant `g`. A worker then writes the feed of its grantee. */
export const ACCEPTED = 'accepted_at = statement_timestamp(), is_feed_due = g.subject_key = 0';

/** The status of the grant `g` by the clock of this moment. */
export const grantStatus = (g: string): string => `CASE WHEN ${g}.revoked_at IS NOT NULL THEN 'revoked'
       WHEN ${g}.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END`;

/** Columns of the grant `g` of subject `s`. */
export const grantColumns = (g = 'g', s = 's'): Columns<GrantRecord> => ({
  grantId: `${g}.grant_id`,
  grantorTenantId: `${g}.grantor_tenant_id`,
  granteeTenantId: `${g}.grantee_tenant_id`,
  ...grantedColumns(g, s),
  scopes: `${g}.scopes`,
  expiresAt: `${g}.expires_at`,
  createdAt: `${g}.created_at`,
  revokedAt: `${g}.revoked_at`,
  status: grantStatus(g),
  grantedBy: `${g}.granted_by`,
  purpose: `${g}.purpose`,
  acceptedAt: `${g}.accepted_at`,
});
