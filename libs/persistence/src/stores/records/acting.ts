import type { Acting } from '@iss/domain';

/** Who acts, and in which request: the parameters of {@link ACTING}. */
export type ActedBy = Pick<Acting, 'principalId' | 'requestId'>;

/**
 * `FROM` item of one row: says for the rest of the transaction who acts, with the parameters `:principalId` and `:requestId`.
 * Triggers write it into the audit trail with each change (`migrations/24-audit-trail.sql`).
 */
export const ACTING = `(SELECT set_config('iss.acting_principal', :principalId::text, true) AS principal_id,
          set_config('iss.acting_request', :requestId::text, true) AS request_id) acting`;
