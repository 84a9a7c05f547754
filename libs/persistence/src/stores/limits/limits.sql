-- fragment: cap_of(scope, name, id)
-- A cap of this tenant or principal: the operator's value, or the parameter of the cap's name by default. The statement that
-- counts reads it, so a change takes effect immediately.
coalesce((SELECT l.value FROM limit_overrides l
      WHERE l.scope = '@scope' AND l.scope_id = @id AND l.limit_name = '@name' LIMIT 1), :@name::int)

-- fragment: limit_override
l.scope, l.scope_id AS "scopeId", l.limit_name AS name, l.value, l.reason, l.set_at AS "setAt"

-- statement: limit_override_list
SELECT @limit_override FROM limit_overrides l
  WHERE l.scope = :scope AND (l.scope_id, l.limit_name) > (:afterId, :afterName)
  ORDER BY l.scope_id, l.limit_name LIMIT :rows

-- statement: limit_override_of
SELECT @limit_override FROM limit_overrides l
  WHERE l.scope = :scope AND l.scope_id = :scopeId ORDER BY l.limit_name

-- statement: limit_override_tenant
SELECT t.tenant_id AS "tenantId" FROM tenants t WHERE t.tenant_id = :tenantId

-- statement: limit_override_set
INSERT INTO limit_overrides AS l (scope, scope_id, limit_name, value, reason)
  VALUES (:scope, :scopeId, :name, :value, :reason)
  ON CONFLICT (scope, scope_id, limit_name) DO UPDATE
     SET value = excluded.value, reason = excluded.reason, set_at = excluded.set_at
  RETURNING @limit_override

-- statement: limit_override_unset
DELETE FROM limit_overrides l WHERE l.scope = :scope AND l.scope_id = :scopeId AND l.limit_name = :name
  RETURNING @limit_override

