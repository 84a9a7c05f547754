import type { Client } from 'pg';

/** Deletes all tenants, their members and their offers, in a fraction of the time that `TRUNCATE … CASCADE` takes. */
export async function deleteTenants(superuser: Client): Promise<void> {
  await superuser.query(
    `SET session_replication_role = replica;
     DELETE FROM transfer_offers; DELETE FROM memberships; DELETE FROM owner_changes; DELETE FROM tenants;
     DELETE FROM tenant_blocks;
     SET session_replication_role = origin`,
  );
}
