import { createHash } from 'node:crypto';
import type { SubjectRef } from '@iss/domain';
import type { Sql } from '../../sql/sql';
import { statement } from '../../sql/statement';

/** What became of a request that came with a key. */
export type IdempotencyOutcome =
  /** It is the first one and may run; `claim` names it when its answer is kept or its key freed. */
  | { kind: 'began'; claim: string }
  /** The first one has this answer, as it was kept. */
  | { kind: 'answered'; answer: string }
  | { kind: 'running' }
  | { kind: 'other_body' }
  /** It would have begun, and may not. */
  | { kind: 'refused' };

const KEPT = `interval '24 hours'`;
/** Longer than any request runs, its wait for a connection and its statement's timeout included. */
const LEASE = `interval '1 minute'`;

/**
 * The row that is already there is read in the snapshot of this statement: one that another request made meanwhile is
 * not in it, which is told from a row by nulls and means that the other one runs.
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
   WHERE k.started_at <= now() - ${KEPT}
      OR (k.answer IS NULL AND k.body_hash = excluded.body_hash AND k.started_at <= now() - ${LEASE})
  RETURNING k.started_at::text AS claim
)
SELECT begun.claim, k.body_hash = :bodyHash AS "isSameBody", k.answer
  FROM (SELECT :keyHash::bytea AS key_hash) i
  LEFT JOIN begun ON true
  LEFT JOIN idempotency_keys k ON k.key_hash = i.key_hash`,
);

/** While its request has this claim and has not answered; found by its key and by nothing else. */
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
    SELECT key_hash FROM idempotency_keys WHERE started_at <= now() - ${KEPT}
     ORDER BY started_at LIMIT :limit FOR UPDATE SKIP LOCKED))
  RETURNING 1
)
SELECT count(*)::int AS deleted FROM deleted`,
);

/** First answers by Idempotency-Key, for 24 hours (contract, "Idempotency"). Hashes are SHA-256, 32 bytes. */
export class IdempotencyStore {
  constructor(private readonly sql: Sql) {}

  /**
   * Takes the key for a request, or says why not. Of many at once one begins. A key whose first request has neither
   * answered nor freed it for a minute is taken over by the next one with the same body: its process is gone. With
   * `mayBegin` false only what the first one left is told.
   */
  async begin(keyHash: Buffer, bodyHash: Buffer, mayBegin = true): Promise<IdempotencyOutcome> {
    const { claim, isSameBody, answer } = await this.sql.one(BEGIN, { keyHash, bodyHash, mayBegin });
    if (claim !== null) return { kind: 'began', claim };
    if (isSameBody === null && !mayBegin) return { kind: 'refused' };
    if (isSameBody === false) return { kind: 'other_body' };
    return answer === null ? { kind: 'running' } : { kind: 'answered', answer };
  }

  /**
   * Keeps the answer of the request with this claim, unless another one has taken the key over. `subject` is whom it tells of, if
   * anyone: an erasure deletes it.
   */
  async keep(keyHash: Buffer, claim: string, answer: string, subject: SubjectRef | null = null): Promise<void> {
    const subjectHash = subject && createHash('sha256').update(`${subject.subjectType}/${subject.subjectId}`).digest();
    await this.sql.run(KEEP, { keyHash, claim, answer, subjectHash });
  }

  /** Gives the key back, so that the next request with it runs. */
  async free(keyHash: Buffer, claim: string): Promise<void> {
    await this.sql.run(FREE, { keyHash, claim });
  }

  /** Deletes at most `limit` keys that are older than 24 hours, the oldest first; answers how many. */
  async deleteExpired(limit: number): Promise<number> {
    return (await this.sql.one(DELETE_EXPIRED, { limit })).deleted;
  }
}
