import type { Visible } from '@iss/domain';
import { fragmentText } from '../../sql/sql-files';

/** The record of a read of another tenant's subject. */
export interface SubjectDisclosure {
  subjectKey: number;
  /** The tenant whose grant allows the read; null if no grant is needed (`GLOBAL_READS=public`). */
  granteeTenantId: string | null;
  /** The grant that allows the read: the one on the subject, or else the one on all subjects. Null as above. */
  grantId: string | null;
  /** The paths that the caller's grants show; null: everything. */
  paths: Visible;
}

// A fragment of facts.sql, for statements in TypeScript.
export const isAcceptedGrantToAll = (grantor: string, grantee: string): string =>
  fragmentText('accepted_grant_to_all', grantor, grantee);
