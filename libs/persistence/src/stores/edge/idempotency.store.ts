import { createHash } from 'node:crypto';
import type { SubjectRef } from '@iss/domain';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';

/** The state of a key when a request arrives with it. */
export type IdempotencyOutcome =
  /** The request is the first one and may run. It passes `claim` when it stores its answer or frees the key. */
  | { kind: 'began'; claim: string }
  /** The first request has this stored answer. */
  | { kind: 'answered'; answer: string }
  | { kind: 'running' }
  | { kind: 'other_body' }
  /** The key is unused, and the request may not begin. */
  | { kind: 'refused' };

const KEY_LIFETIME = `interval '24 hours'`;
/** Longer than any request, including its wait for a connection and its statement timeout. */
const LEASE = `interval '1 minute'`;

/**
 * The statement reads an existing row in its own snapshot. If another request inserted the row meanwhile, the snapshot lacks it
 * and the columns are null, which means that the other request runs.
 */
const BEGIN = statement<
  { keyHash: Buffer; bodyHash: Buffer; mayBegin: boolean },
  { claim: string | null; isSameBody: boolean | null; answer: string | null }
>(
  'idempotency_begin',
  `WITH begun AS (
  INSERT INTO idempotency_keys AS k (key_hash, body_hash)
  SELECT :keyHash::bytea, :bodyHash::bytea WHERE :mayBegin::boolean
  ON CONFLICT (key_hash) DO UPDATE
     SET body_hash = excluded.body_hash, started_at = excluded.started_at, answer = NULL, subject_hash = NULL
   WHERE k.started_at <= now() - ${KEY_LIFETIME}
      OR (k.answer IS NULL AND k.body_hash = excluded.body_hash AND k.started_at <= now() - ${LEASE})
  RETURNING k.started_at::text AS claim
)
SELECT begun.claim, k.body_hash = :bodyHash AS "isSameBody", k.answer
  FROM (SELECT :keyHash::bytea AS key_hash) i
  LEFT JOIN begun ON true
  LEFT JOIN idempotency_keys k ON k.key_hash = i.key_hash`,
);

/** True while the request with this claim has not answered. The form of the condition leaves the search to the key alone. */
const CLAIMED = 'key_hash = :keyHash AND (started_at = :claim::timestamptz AND answer IS NULL) IS TRUE';

const KEEP = statement<{ keyHash: Buffer; claim: string; answer: string; subjectHash: Buffer | null }>(
  'idempotency_keep',
  `UPDATE idempotency_keys SET answer = :answer, subject_hash = :subjectHash::bytea WHERE ${CLAIMED}`,
);

const FREE = statement<{ keyHash: Buffer; claim: string }>(
  'idempotency_free',
  `DELETE FROM idempotency_keys WHERE ${CLAIMED}`,
);

const DELETE_EXPIRED = statement<{ limit: number }, { deleted: number }>(
  'idempotency_delete_expired',
  `WITH deleted AS (
  DELETE FROM idempotency_keys WHERE key_hash = ANY (ARRAY(
    SELECT key_hash FROM idempotency_keys WHERE started_at <= now() - ${KEY_LIFETIME}
     ORDER BY started_at LIMIT :limit FOR UPDATE SKIP LOCKED))
  RETURNING 1
)
SELECT count(*)::int AS deleted FROM deleted`,
);

/** Stores the first answer for each Idempotency-Key, for 24 hours (contract, "Idempotency"). Hashes are SHA-256, 32 bytes. */
export class IdempotencyStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Claims the key for a request, or says why not. One of many concurrent requests begins. If the first request has neither
   * answered nor freed its key for a minute, its process is gone, and the next request with the same body takes the key over.
   * With `mayBegin` false, only the first request's state is returned.
   */
  async begin(keyHash: Buffer, bodyHash: Buffer, mayBegin = true): Promise<IdempotencyOutcome> {
    const { claim, isSameBody, answer } = await this.sql.one(BEGIN, { keyHash, bodyHash, mayBegin });
    if (claim !== null) return { kind: 'began', claim };
    if (isSameBody === null && !mayBegin) return { kind: 'refused' };
    if (isSameBody === false) return { kind: 'other_body' };
    return answer === null ? { kind: 'running' } : { kind: 'answered', answer };
  }

  /**
   * Stores the answer of the request with this claim, unless another request has taken the key over. `subject` is the subject
   * that the answer describes, if any: an erasure of the subject deletes the answer.
   */
  async keep(keyHash: Buffer, claim: string, answer: string, subject: SubjectRef | null = null): Promise<void> {
    const subjectHash = subject && createHash('sha256').update(`${subject.subjectType}/${subject.subjectId}`).digest();
    await this.sql.run(KEEP, { keyHash, claim, answer, subjectHash });
  }

  /** Frees the key, so that the next request with it runs. */
  async free(keyHash: Buffer, claim: string): Promise<void> {
    await this.sql.run(FREE, { keyHash, claim });
  }

  /** Deletes at most `limit` keys that are older than 24 hours, the oldest first. Returns their number. */
  async deleteExpired(limit: number): Promise<number> {
    return (await this.sql.one(DELETE_EXPIRED, { limit })).deleted;
  }
}
