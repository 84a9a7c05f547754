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

const BEGIN = statement<
  { keyHash: Buffer; bodyHash: Buffer; mayBegin: boolean },
  { claim: string | null; isSameBody: boolean | null; answer: string | null }
>('idempotency_begin');

const KEEP = statement<
  { keyHash: Buffer; claim: string; answer: string; subjectType: string | null; subjectId: string | null },
  { isKept: true }
>('idempotency_keep');

const FREE = statement<{ keyHash: Buffer; claim: string }>('idempotency_free');

const DELETE_EXPIRED = statement<{ limit: number }, { deleted: number }>('idempotency_delete_expired');

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
   * that the answer describes, if any: an erasure of the subject deletes the answer. If it was erased during the request, the
   * key is free again.
   */
  async keep(keyHash: Buffer, claim: string, answer: string, subject: SubjectRef | null = null): Promise<void> {
    const { subjectType, subjectId } = subject ?? { subjectType: null, subjectId: null };
    const kept = await this.sql.run(KEEP, { keyHash, claim, answer, subjectType, subjectId });
    if (kept.length === 0) await this.free(keyHash, claim);
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
