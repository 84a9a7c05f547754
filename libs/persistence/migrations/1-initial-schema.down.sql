DROP TABLE delivery_attempts, deliveries, outbox_events, webhook_subscriptions, grants, updates, snapshots, subjects,
  memberships, tenants;
DROP FUNCTION refuse_snapshot_change();
