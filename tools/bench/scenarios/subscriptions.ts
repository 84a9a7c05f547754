import { createHash, randomUUID } from 'node:crypto';
import { SecretBox } from '@iss/platform';
import type { Bench } from './scenario.ts';

export const EVENT_TYPE = 'identity.snapshot.created';
const BATCH = 5_000;

/** Inserts subscriptions of a tenant to new snapshots by SQL, each with its own path at one endpoint. */
export async function seedSubscriptions(
  { stage }: Bench,
  { tenantId, count, port }: { tenantId: string; count: number; port: number },
): Promise<void> {
  const secrets = SecretBox.fromKeyRing(stage.secretsKeys);
  for (let from = 0; from < count; from += BATCH) {
    const ids = Array.from({ length: Math.min(BATCH, count - from) }, () => randomUUID());
    const texts = ids.map((id) => `whsec_${Buffer.from(id).toString('base64')}`);
    await stage.sql.query(
      `INSERT INTO webhook_subscriptions (subscription_id, tenant_id, target_url, event_types, secret_sealed, secret_fingerprint)
       SELECT id, $1, $2 || id, ARRAY[$3], sealed, fingerprint
         FROM unnest($4::uuid[], $5::text[], $6::text[]) t (id, sealed, fingerprint)`,
      [
        tenantId,
        `http://127.0.0.1:${port}/`,
        EVENT_TYPE,
        ids,
        texts.map((text, index) => secrets.seal(text, ids[index] ?? '')),
        texts.map((text) => createHash('sha256').update(text).digest('hex')),
      ],
    );
  }
}

/** Deletes all subscriptions and all unprocessed events. */
export async function unsubscribeAll({ stage }: Bench): Promise<void> {
  await stage.sql.query('UPDATE webhook_subscriptions SET deleted_at = now() WHERE deleted_at IS NULL');
  await forgetEvents(stage);
}

export async function forgetEvents({ sql }: Pick<Bench['stage'], 'sql'>): Promise<void> {
  await sql.query('DELETE FROM outbox_events WHERE fanned_out_at IS NULL');
}
