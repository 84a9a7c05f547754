-- fragment: presentation_columns(group)
-- The columns of the presentation request `r`.
r.presentation_request_id AS "@group.presentationRequestId",
  r.tenant_id AS "@group.tenantId",
  r.vcts AS "@group.vcts",
  r.claims AS "@group.claims",
  CASE WHEN r.status = 'pending' AND r.expires_at <= statement_timestamp() THEN 'expired' ELSE r.status END AS "@group.status",
  r.problem AS "@group.problem",
  r.attestation_id AS "@group.attestationId",
  r.created_by AS "@group.createdBy",
  r.created_at AS "@group.createdAt",
  r.expires_at AS "@group.expiresAt"

-- fragment: awaits_answer
(r.status = 'pending' AND r.expires_at > statement_timestamp()) IS TRUE

-- statement: presentation_request_create
WITH cap AS MATERIALIZED (SELECT @cap_of(tenant, pending_presentation_requests, :tenantId) AS value),
made AS (
  INSERT INTO presentation_requests (presentation_request_id, tenant_id, vcts, claims, sealed, created_by, expires_at)
  SELECT :presentationRequestId::uuid, :tenantId::text, :vcts::text[], :claims::text[], :sealed::text, :principalId::text,
         date_trunc('second', statement_timestamp()) + :expiresIn::int * interval '1 second'
    FROM cap
   WHERE @count_up_to(cap.value, {FROM presentation_requests o
           WHERE o.tenant_id = :tenantId AND o.status = 'pending' AND o.expires_at > statement_timestamp()}) < cap.value
  RETURNING *
)
SELECT @presentation_columns(request?), cap.value AS cap
  FROM cap LEFT JOIN made r ON true

-- statement: presentation_request_find
SELECT @facts,
  @presentation_columns(request?)
  FROM @member
  LEFT JOIN LATERAL (SELECT * FROM presentation_requests r WHERE r.presentation_request_id = :presentationRequestId::uuid LIMIT 1) r
    ON r.tenant_id = i.tenant_id AND f.member_status = 'active'

-- statement: presentation_request_awaiting
SELECT r.tenant_id AS "tenantId", r.vcts, r.claims, r.sealed, r.created_by AS "createdBy"
  FROM presentation_requests r
 WHERE r.presentation_request_id = :presentationRequestId::uuid AND @awaits_answer

-- statement: presentation_request_receive
UPDATE presentation_requests r SET status = 'received', attestation_id = :attestationId::uuid, sealed = NULL, problem = NULL
 WHERE r.presentation_request_id = :presentationRequestId::uuid AND @awaits_answer
RETURNING r.presentation_request_id AS "presentationRequestId"

-- statement: presentation_request_refuse
-- Counts a wrong answer. The request ends with the last one that is allowed, or with a final one.
UPDATE presentation_requests r
   SET wrong_answers = r.wrong_answers + 1,
       problem = :problem::text,
       status = CASE WHEN :isFinal::boolean OR r.wrong_answers + 1 >= :most::int THEN 'refused' ELSE r.status END,
       sealed = CASE WHEN :isFinal OR r.wrong_answers + 1 >= :most THEN NULL ELSE r.sealed END
 WHERE r.presentation_request_id = :presentationRequestId::uuid AND @awaits_answer

-- statement: retention_delete_presentation_requests
WITH deleted AS (
  DELETE FROM presentation_requests WHERE presentation_request_id = ANY (ARRAY(
    SELECT r.presentation_request_id FROM presentation_requests r WHERE r.expires_at < statement_timestamp() - interval '1 hour'
     ORDER BY r.expires_at LIMIT :limit FOR UPDATE SKIP LOCKED))
  RETURNING 1
)
SELECT count(*)::int AS deleted FROM deleted
