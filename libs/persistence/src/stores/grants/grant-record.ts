import type { GrantStatus, PendingGrantStatus, Scope, SubjectRef } from '@iss/domain';
import type { Columns } from '../../sql/columns';
import { grantedColumns } from '../facts/access-facts';

/** A grant on one subject or on `ALL_SUBJECTS`. Its status is that of the moment it was read. */
export interface GrantRecord extends SubjectRef {
  grantId: string;
  grantorTenantId: string;
  granteeTenantId: string;
  scopes: readonly Scope[];
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

/** Accepts grant `g`. A worker then fills the feed of its grantee. */
export const ACCEPTED = 'accepted_at = statement_timestamp(), is_feed_due = g.subject_key = 0';

/** Returns the current status of the grant `g`. */
export const grantStatus = (g: string): string => `CASE WHEN ${g}.revoked_at IS NOT NULL THEN 'revoked'
       WHEN ${g}.expires_at <= statement_timestamp() THEN 'expired' ELSE 'active' END`;

/** Returns the columns of the grant `g` of subject `s`. */
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

/** The same in a list for the tenant `i.tenant_id`. A grant on all subjects has no name. */
export const listedGrantColumns: Columns<ListedGrant> = {
  ...grantColumns(),
  name: 'CASE WHEN g.subject_key <> 0 AND s.owner_tenant_id = i.tenant_id THEN s.display_name END',
};
