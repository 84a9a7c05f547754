-- statement: status_list_find
SELECT l.token FROM status_lists l WHERE l.list_id = :listId::uuid

-- statement: status_lists_mark
-- Makes lists with a changed status due. A list that is being signed is locked, so it becomes due after that.
WITH marked AS MATERIALIZED (
  SELECT w.waiting_id, w.list_id FROM status_list_waiting w ORDER BY w.waiting_id LIMIT :limit FOR UPDATE SKIP LOCKED
), taken AS (
  DELETE FROM status_list_waiting w WHERE w.waiting_id = ANY (ARRAY(SELECT marked.waiting_id FROM marked))
), named AS MATERIALIZED (
  SELECT l.list_id FROM status_lists l WHERE l.list_id = ANY (ARRAY(SELECT DISTINCT marked.list_id FROM marked))
   ORDER BY l.list_id FOR NO KEY UPDATE
), due AS (
  UPDATE status_lists l SET due_at = statement_timestamp() WHERE l.list_id = ANY (ARRAY(SELECT named.list_id FROM named))
)
SELECT count(*)::int AS taken FROM marked

-- statement: status_list_claim
-- Locks the next list that must be signed.
SELECT l.list_id AS "listId", l.tenant_id AS "tenantId", l.issuer, l.uri, l.signed_at AS "signedAt"
  FROM status_lists l WHERE l.due_at <= statement_timestamp() ORDER BY l.due_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED

-- statement: status_list_key
-- The key that signs for a tenant. A separate statement after the lock, so that it is never one that was replaced before:
-- that replacement has made the list due, and the signature ends this.
SELECT k.kid, k.public_key AS "publicKey", k.sealed
  FROM issuing_keys k WHERE k.tenant_id = :tenantId::text AND k.replaced_at IS NULL LIMIT 1

-- statement: status_list_statuses
SELECT c.status_idx AS idx, c.status FROM credentials c
 WHERE c.list_id::text = :listId::text AND c.status <> 'valid' ORDER BY c.list_id::text, c.status_idx

-- statement: status_list_signed
-- The next time is null if no credential of the list is valid any more.
UPDATE status_lists l
   SET token = :token::text, signed_at = :signedAt::timestamptz,
       due_at = CASE WHEN (SELECT true FROM credentials c
                            WHERE (c.list_id, c.expires_at) > (l.list_id, statement_timestamp()) AND c.list_id <= l.list_id AND c.status <> '' LIMIT 1)
                     THEN :dueAt::timestamptz END
 WHERE l.list_id = :listId::uuid

-- statement: status_list_failed
UPDATE status_lists l SET due_at = statement_timestamp() + interval '1 minute' WHERE l.list_id = :listId::uuid
