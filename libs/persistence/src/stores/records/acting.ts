import type { Acting } from '@iss/domain';

/** The acting principal and its request: the parameters of {@link ACTING}. */
export type ActedBy = Pick<Acting, 'principalId' | 'requestId'>;

/**
 * A `FROM` item of one row. It sets the acting principal for the rest of the transaction, with the parameters `:principalId` and
 * `:requestId`. Triggers write it into the audit trail with each change (`migrations/24-audit-trail.sql`).
 */
export const ACTING = `(SELECT set_config('iss.acting_principal', :principalId::text, true) AS principal_id,
          set_config('iss.acting_request', :requestId::text, true) AS request_id) acting`;
