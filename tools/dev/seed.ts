import { Caller, subscribeInbox, textOf } from './world/caller.ts';
import { ACME_EVENT_TYPES, seedRest } from './world/rest.ts';

const SUBJECT = 'organization/acme-corp';
/** The ids of versions 1 and 2, from the documented examples, so that the values which Swagger UI fills in exist. */
const SNAPSHOT_IDS = ['5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10', '8d2ab0a5-6ca3-5d6f-8f3b-7a6dbf5f0d6e'] as const;

export interface SeedSettings {
  /** The URL of a gateway, without `/v1`. */
  baseUrl: string;
  /** The URL of an inbox from `startInbox`. Without it, there are no subscriptions. */
  inboxUrl?: string;
  /** `oidc:{project}#{user}`. */
  principalIdOf(user: string): string;
  /** Returns an access token of a user. It need not state the principal type, since the member records do. */
  token(user: string): Promise<string>;
}

/** Runs a step and records its failure. */
export type Attempt = (what: string, step: () => Promise<unknown>) => Promise<void>;

/**
 * Fills an empty service through its API with the world of `npm start` (docs/world.md). The small world comes first, so that
 * its log indexes are those in the documents. If all users are the same principal, there is only the small world. Returns a
 * line for each step that failed.
 */
export async function seedWorld(settings: SeedSettings): Promise<string[]> {
  const faults = await seedSmallWorld(settings);
  if (settings.principalIdOf('alice') === settings.principalIdOf('bob')) return faults;
  await seedRest(settings, attemptInto(faults));
  return faults;
}

/**
 * Creates `acme` (owner alice) with a subject of three versions and a subscription to the inbox, and `beta` (owner bob) with a
 * grant on the subject. Returns a line for each step that failed.
 */
export async function seedSmallWorld({ baseUrl, inboxUrl, principalIdOf, token }: SeedSettings): Promise<string[]> {
  const faults: string[] = [];
  const attempt = attemptInto(faults);
  const [aliceToken, bobToken] = await Promise.all([token('alice'), token('bob')]);
  const alice = new Caller(`${baseUrl}/v1`, aliceToken);
  const bob = new Caller(`${baseUrl}/v1`, bobToken);

  await attempt('tenant acme', () => alice.post('/tenants', { tenant_id: 'acme', name: 'Acme Corporation' }));
  await attempt('tenant beta', () => bob.post('/tenants', { tenant_id: 'beta', name: 'Beta Bank' }));
  if (inboxUrl !== undefined)
    await attempt('webhook subscription', () =>
      subscribeInbox(alice, inboxUrl, { tenant: 'acme', hook: 'acme', eventTypes: ACME_EVENT_TYPES }),
    );
  await attempt('versions 1 and 2', async () => {
    for (const envelope of history()) await alice.post('/tenants/acme/entity-states', envelope);
  });
  await attempt('version 3', async () => {
    const updates = `/tenants/acme/subjects/${SUBJECT}/updates`;
    const update = await alice.post(updates, {
      subject_id: 'acme-corp',
      base_snapshot_version: 2,
      patch_ops: [{ op: 'replace', path: '/attributes/legal/legal_name', value: 'Acme Corporation International' }],
    });
    await alice.post(`${updates}/${textOf(update, 'update_id')}/apply`);
  });
  await attempt('grant to beta', () =>
    alice.post('/tenants/acme/grants', {
      grantee_tenant_id: 'beta',
      subject_type: 'organization',
      subject_id: 'acme-corp',
      scopes: ['read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff'],
    }),
  );
  await attempt("bob's allow_counterparty_access", () =>
    bob.put(`/tenants/beta/principals/${encodeURIComponent(principalIdOf('bob'))}`, {
      allow_counterparty_access: true,
    }),
  );
  return faults;
}

function attemptInto(faults: string[]): Attempt {
  return async (what, step) => {
    await step().catch((error: unknown) =>
      faults.push(`${what}: ${error instanceof Error ? error.message : String(error)}`),
    );
  };
}

/** Returns the first two versions of the subject. */
function history(): unknown[] {
  const now = new Date().toISOString();
  const common = {
    envelope_version: 'entity_state_envelope_v1',
    generated_at: now,
    subject: { subject_type: 'organization', subject_id: 'acme-corp' },
    evidence: [
      {
        evidence_id: 'ev-1',
        evidence_type: 'registry_extract',
        source: 'Delaware Division of Corporations',
        captured_at: now,
      },
    ],
    attribute_paths: {
      '/attributes/legal/legal_name': [{ evidence_id: 'ev-1', evidence_type: 'registry_extract', role: 'primary' }],
    },
    audit: { created_by: 'seed', created_at: now, source: 'seed' },
  };
  const attributes = {
    legal: { legal_name: 'Acme Corporation', legal_form: 'Inc.' },
    contact: { email: 'info@acme.example' },
    jurisdiction: { country: 'US', region: 'DE' },
    identifiers: { registration_number: '7654321' },
  };
  const later = {
    ...attributes,
    contact: { email: 'office@acme.example' },
    identifiers: { ...attributes.identifiers, lei: '5493001KJTIIGC8Y1R12' },
  };
  return [attributes, later].map((known, index) => ({
    ...common,
    snapshot_id: SNAPSHOT_IDS[index],
    snapshot_version: index + 1,
    attributes: known,
  }));
}
