import { IdentityState, VerificationError, verificationOf, verifyWebhook } from '@identity-state/client';

/** Uses the client in an edge worker: writes, changes, verifies with the log, follows the feed, and detects a forged response. */
let iss;
export default {
  async fetch(_request, { BASE_URL, TOKEN, POLICY }) {
    iss ??= new IdentityState({ baseUrl: BASE_URL, token: TOKEN, trust: { policy: POLICY } });
    const tenant = await iss.createTenant({ tenant_id: `edge-${Date.now()}`, name: 'Edge' });
    const company = tenant.organization(`${tenant.tenantId}-ltd`);
    const today = new Date().toISOString();
    await tenant.write({
      envelope_version: 'entity_state_envelope_v1',
      snapshot_id: crypto.randomUUID(),
      snapshot_version: 1,
      generated_at: today,
      subject: { subject_type: 'organization', subject_id: company.subjectId },
      attributes: { legal: { legal_name: 'Edge Ltd' } },
      evidence: [],
      audit: { created_by: 'edge', created_at: today, source: 'edge' },
    });
    const changed = await company.change((draft) => {
      draft.attributes.legal.legal_name = 'Edge Holding';
    });
    const feed = [];
    for await (const change of tenant.changes({ follow: true })) if (feed.push(change.type) === 3) break;
    const exported = [];
    for await (const version of company.export()) exported.push(verificationOf(version)?.log?.logIndex);
    const liar = new IdentityState({
      baseUrl: BASE_URL,
      token: TOKEN,
      fetch: async (...request) => {
        const answer = await fetch(...request);
        return new Response((await answer.text()).replace('Edge Holding', 'Somebody Else'), answer);
      },
    });
    const lie = await liar
      .tenant(tenant.tenantId)
      .organization(company.subjectId)
      .latest()
      .catch((error) => (error instanceof VerificationError ? error.failure : String(error)));
    const webhook = await verifyWebhook('{}', new Headers(), 'whsec_AAAA').catch((error) => error.name);
    return Response.json({ entry: verificationOf(changed).log.logIndex, feed, exported, lie, webhook });
  },
};
