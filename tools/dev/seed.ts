const SUBJECT = 'organization/acme-corp';
/** Of versions 1 and 2: the ids of the documented examples, so that what Swagger UI fills in is there. */
const SNAPSHOT_IDS = ['5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10', '8d2ab0a5-6ca3-5d6f-8f3b-7a6dbf5f0d6e'] as const;

export interface SeedSettings {
  baseUrl: string;
  inboxUrl: string;
  /** `oidc:{project}#bob` */
  bobsPrincipalId: string;
  token(user: string): Promise<string>;
}

/**
 * Fills an empty service through its own API: `acme` (owner alice) with a subject of three versions and a subscription
 * to the inbox, `beta` (owner bob) with a grant on the subject. Gives one line for each thing that could not be done.
 */
export async function seed(settings: SeedSettings): Promise<string[]> {
  const { baseUrl, inboxUrl, bobsPrincipalId } = settings;
  const [alice, bob] = await Promise.all([settings.token('alice'), settings.token('bob')]);
  const faults: string[] = [];
  const attempt = async (what: string, step: () => Promise<unknown>): Promise<void> => {
    await step().catch((error: unknown) =>
      faults.push(`${what}: ${error instanceof Error ? error.message : String(error)}`),
    );
  };
  const asAlice = (method: string, path: string, body?: unknown) => call(`${baseUrl}/v1`, alice, method, path, body);
  const asBob = (method: string, path: string, body?: unknown) => call(`${baseUrl}/v1`, bob, method, path, body);

  await attempt('tenant acme', () => asAlice('POST', '/tenants', { tenant_id: 'acme', name: 'Acme Corporation' }));
  await attempt('tenant beta', () => asBob('POST', '/tenants', { tenant_id: 'beta', name: 'Beta Bank' }));
  await attempt('webhook subscription', async () => {
    const { secret } = await asAlice('POST', '/webhook-subscriptions', {
      tenant_id: 'acme',
      target_url: `${inboxUrl}/hooks/acme`,
      event_types: ['identity.snapshot.created', 'refresh_request.created', 'refresh_request.fulfilled'],
    });
    await call(inboxUrl, '', 'PUT', '/hooks/acme/secret', { secret });
  });
  await attempt('versions 1 and 2', async () => {
    for (const envelope of history()) await asAlice('POST', '/tenants/acme/entity-states', envelope);
  });
  await attempt('version 3', async () => {
    const updates = `/tenants/acme/subjects/${SUBJECT}/updates`;
    const { update_id: updateId } = await asAlice('POST', updates, {
      subject_id: 'acme-corp',
      base_snapshot_version: 2,
      patch_ops: [{ op: 'replace', path: '/attributes/legal/legal_name', value: 'Acme Corporation International' }],
    });
    await asAlice('POST', `${updates}/${String(updateId)}/apply`);
  });
  await attempt('grant to beta', () =>
    asAlice('POST', '/tenants/acme/grants', {
      grantee_tenant_id: 'beta',
      subject_type: 'organization',
      subject_id: 'acme-corp',
      scopes: ['read_latest', 'read_lineage', 'read_snapshot_by_id', 'read_diff'],
    }),
  );
  await attempt("bob's allow_counterparty_access", () =>
    asBob('PUT', `/tenants/beta/principals/${encodeURIComponent(bobsPrincipalId)}`, {
      allow_counterparty_access: true,
    }),
  );
  return faults;
}

/** What `acme` knew before it came here: imported version by version. */
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
    legal: { legal_name: 'Acme Corporation', form: 'Inc.' },
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

/** A call that must succeed; gives the JSON object of the answer. */
async function call(
  base: string,
  token: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status} ${text.slice(0, 300)}`);
  return text === '' ? {} : JSON.parse(text);
}
