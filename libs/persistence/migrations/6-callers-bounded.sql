-- Stores who founded a tenant, to whom its usage is counted, and the limits that an operator sets instead of the defaults.

ALTER TABLE tenants ADD COLUMN founded_by text COLLATE "C";
COMMENT ON COLUMN tenants.founded_by IS 'The principal that created the tenant. Tenants of one founder share the limits of founders. Null if unknown';

UPDATE tenants t SET founded_by = (
  SELECT m.principal_id FROM memberships m
   WHERE m.tenant_id = t.tenant_id AND m.api_functional_role = 'tenant_owner'
   ORDER BY m.created_at, m.principal_id LIMIT 1);
CREATE INDEX tenants_by_founder ON tenants (founded_by) WHERE founded_by IS NOT NULL;

CREATE TABLE limit_overrides (
  scope      text COLLATE "C" NOT NULL CHECK (scope IN ('tenant', 'principal')),
  scope_id   text COLLATE "C" NOT NULL,
  limit_name text COLLATE "C" NOT NULL,
  value      integer NOT NULL CHECK (value >= 0),
  reason     text,
  set_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (scope, scope_id, limit_name)
);
COMMENT ON TABLE limit_overrides IS 'Limits that an operator set (iss admin limits). The applications can only read them';
