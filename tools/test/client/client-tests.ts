import { randomUUID } from 'node:crypto';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type api,
  type Change,
  compare,
  type Evidence,
  ForbiddenError,
  IdentityState,
  type IdentityStateOptions,
  NotFoundError,
  StaleBaseError,
  UnauthorizedError,
  ValidationError,
  type VerificationFailure,
  verificationOf,
} from '@identity-state/client';
import { build } from 'esbuild';
import { repositoryRoot } from '../../root.ts';
import type { StartedService } from '../../testing/started-service.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { PRINTED, programFor, settingsOf } from './page.ts';
import { firstEnvelope, lyingFetch, tokenOf } from './testing.ts';

let service: StartedService;
let token = '';
let bob = '';
const tenantId = `client-${randomUUID().slice(0, 8)}`;
const partnerId = `partner-${randomUUID().slice(0, 8)}`;

/** Returns a client that has seen nothing yet. */
function client(changes: Partial<IdentityStateOptions> = {}): IdentityState {
  return new IdentityState({ baseUrl: service.baseUrl, token: () => token, ...changes });
}
const policy = (): string => readFileSync(service.logPolicyFile, 'utf8');

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

type Named = { legal: { legal_name: string } };

/** Creates a subject with two versions. Returns its id. */
async function company(): Promise<string> {
  const subjectId = `company-${randomUUID()}`;
  const tenant = client().tenant(tenantId);
  await tenant.write(firstEnvelope(subjectId));
  await tenant.write(
    firstEnvelope(subjectId, { snapshot_version: 2, attributes: { legal: { legal_name: 'Second' } } }),
  );
  return subjectId;
}

/** Tests the client against a service that runs. */
export function describeClient(serviceOf: () => StartedService): void {
  beforeAll(async () => {
    service = serviceOf();
    token = await tokenOf(service, 'carol');
    bob = await tokenOf(service, 'bob');
    await client().createTenant({ tenant_id: tenantId, name: 'Client' });
    const partner = client({ token: bob });
    await partner.createTenant({ tenant_id: partnerId, name: 'Partner' });
    const path = `/v1/tenants/${partnerId}/principals`;
    const { items } = await partner.request<api.PrincipalPage>('GET', path);
    for (const { principal_id: id } of items) {
      const body = { allow_counterparty_access: true };
      await partner.request('PUT', `${path}/${encodeURIComponent(id)}`, { body });
    }
  });

  describe('reads', () => {
    it('verify hashes, and the chain if requested', async () => {
      const subjectId = await company();
      const subject = client().tenant(tenantId).organization(subjectId);
      const latest = await subject.latest();
      expect(latest.envelope.attributes.legal.legal_name).toBe('Second');
      expect(verificationOf(latest)).toEqual({ mode: 'hash', log: null });
      const first = await subject.version(1, { verify: 'chain' });
      expect(first.envelope_hash).toBe(latest.prev_hash);
      const byId = await client().tenant(tenantId).snapshot(latest.snapshot_id, { verify: 'chain' });
      expect(byId).toEqual(latest);
    });

    it('verify the log proof by the policy', async () => {
      const subjectId = await company();
      const subject = client({ trust: { policy: policy() } })
        .tenant(tenantId)
        .organization(subjectId);
      const log = verificationOf(await subject.latest())?.log;
      expect(log).toMatchObject({ tenantId, checkpoint: { cosignedBy: [expect.stringContaining('witness')] } });
    });

    it('throw an error class for each kind of failure', async () => {
      const subjectId = await company();
      const subject = client().tenant(tenantId).organization(subjectId);
      const missing = await subject.version(9).catch((error: unknown) => error);
      expect(missing).toBeInstanceOf(NotFoundError);
      expect(missing).toMatchObject({ status: 404, code: 'not_found', requestId: expect.stringMatching(/./) });
      const elsewhere = client().tenant(tenantId).organization('nobody');
      await expect(elsewhere.latest()).rejects.toThrow(ForbiddenError);
      await expect(client({ token: 'x.y.z' }).tenant(tenantId).organization('a').latest()).rejects.toThrow(
        UnauthorizedError,
      );
      const bad = client().request('POST', `/v1/tenants/${tenantId}/entity-states`, { body: {} });
      await expect(bad).rejects.toThrow(ValidationError);
      const stale = await client()
        .request('POST', `/v1/tenants/${tenantId}/subjects/organization/${subjectId}/updates`, {
          body: {
            subject_id: subjectId,
            base_snapshot_version: 1,
            patch_ops: [{ op: 'remove', path: '/attributes/legal' }],
          },
        })
        .catch((error: unknown) => error);
      expect(stale).toBeInstanceOf(StaleBaseError);
      expect(stale).toMatchObject({ latestVersion: 2 });
    });
  });

  describe('writes', () => {
    const extract: Evidence = {
      evidence_id: 'ex-1',
      evidence_type: 'registry_extract',
      source: 'register',
      captured_at: '2026-01-01T00:00:00Z',
    };

    it('apply changes of a draft with their evidence, and retry on a newer version', async () => {
      const subjectId = await company();
      const subject = client().tenant(tenantId).organization(subjectId);
      // Another writer is faster, twice.
      let rounds = 0;
      const other = client().tenant(tenantId).organization<Named & { city: string }>(subjectId);
      const changed = await subject.change(
        async (draft) => {
          rounds++;
          if (rounds <= 2) await other.change(({ attributes }) => void (attributes.city = `City ${rounds}`));
          draft.attributes.legal.legal_name = 'New Ltd';
        },
        { evidence: [extract] },
      );
      expect(rounds).toBe(3);
      expect(changed.snapshot_version).toBe(5);
      expect(changed.envelope.attributes).toEqual({ legal: { legal_name: 'New Ltd' }, city: 'City 2' });
      const [name] = await all(subject.provenance({ path: '/attributes/legal/legal_name' }));
      expect(name).toMatchObject({ since_version: 5, evidence_status: 'current' });
      const unchanged = await subject.change(() => undefined);
      expect(unchanged.snapshot_version).toBe(5);
      expect(await all(subject.updates({ status: 'proposed' }))).toEqual([]);
      const [first, last] = [await subject.version(1), await subject.latest()];
      const { ops } = await subject.diff({ from: 1, to: 5 });
      expect(compare(first.envelope, last.envelope)).toEqual(expect.arrayContaining(ops));
    });

    it('import an archive once, and report refused versions', async () => {
      const subjectId = `archive-${randomUUID()}`;
      const records = [1, 2, 3].map((version) => firstEnvelope(subjectId, { snapshot_version: version }));
      const tenant = client().tenant(tenantId);
      const gap = firstEnvelope(subjectId, { snapshot_version: 9 });
      expect(await tenant.import([...records, gap])).toMatchObject({ stored: 3, refused: 1, refusals: [{ index: 3 }] });
      expect(await tenant.import(records)).toMatchObject({ settled: 3, stored: 0, known: 3 });
      expect(await all(tenant.organization(subjectId).history())).toHaveLength(3);
    });

    it('fail if the returned hash differs from the sent envelope', async () => {
      const lying = client({ fetch: lyingFetch((text) => text.replace(/("envelope_hash":")[0-9a-f]{4}/, '$10000')) });
      const written = lying.tenant(tenantId).write(firstEnvelope(`written-${randomUUID()}`));
      await expect(written).rejects.toMatchObject({ failure: 'written' });
    });
  });

  describe('lineage', () => {
    it('is equal when read as pages, as headers, and as a stream that the log proves', async () => {
      const subjectId = await company();
      const subject = client({ trust: { policy: policy() } })
        .tenant(tenantId)
        .organization(subjectId);
      const exported = await all(subject.export());
      expect(exported.map((version) => [version.snapshot_version, verificationOf(version)?.mode])).toEqual([
        [1, 'log'],
        [2, 'log'],
      ]);
      expect(await all(subject.history({ order: 'asc', verify: 'chain' }))).toEqual(exported);
      expect((await all(subject.headers())).map(({ snapshot_version: version }) => version)).toEqual([2, 1]);
      expect(await subject.latest({ asOf: new Date(), verify: 'hash' })).toEqual(exported[1]);
    });

    it('refuses an export with missing, changed or unproved versions', async () => {
      const subjectId = await company();
      const lies: readonly (readonly [VerificationFailure, (text: string) => string])[] = [
        ['gap', (text) => text.split('\n').toSpliced(1, 1).join('\n')],
        ['gap', (text) => text.split('\n').toSpliced(2, 1).join('\n')],
        ['hash', (text) => text.replace('Second', 'Third!')],
        ['not_in_log', (text) => text.replace(/"inclusion":\["..../, '"inclusion":["AAAA')],
      ];
      for (const [failure, lie] of lies) {
        const fetch = lyingFetch((text, url) => (url.includes('/export') ? lie(text) : undefined));
        const subject = client({ trust: { policy: policy() }, fetch })
          .tenant(tenantId)
          .organization(subjectId);
        await expect(all(subject.export())).rejects.toMatchObject({ failure });
      }
    });
  });

  describe('sharing', () => {
    it('lets a grantee read, request a refresh and follow changes until the revocation', async () => {
      const subjectId = await company();
      const owner = client().tenant(tenantId);
      const bank = client({ token: bob }).tenant(partnerId);
      await expect(bank.organization(subjectId).latest()).rejects.toThrow(ForbiddenError);
      const grant = await owner.organization(subjectId).share({
        grantee_tenant_id: partnerId,
        scopes: ['read_latest', 'read_lineage'],
      });
      const latest = await bank.organization(subjectId).latest({ verify: 'chain' });
      const request = await bank.organization(subjectId).refreshRequests.create({
        requesting_tenant_id: partnerId,
        requested_paths: ['/attributes/legal'],
      });
      const [incoming] = await all(owner.refreshRequests({ direction: 'incoming', status: 'pending' }));
      expect(incoming?.refresh_request_id).toBe(request.refresh_request_id);
      const { refreshRequests } = owner.organization(subjectId);
      expect(await refreshRequests.fulfil(request.refresh_request_id, latest.snapshot_id)).toMatchObject({
        status: 'fulfilled',
      });

      const seen: Change[] = [];
      for await (const change of bank.changes({ follow: true, subjectType: 'organization' })) {
        if (change.type === 'tenant.owner_changed' || change.subject_id !== subjectId) continue;
        seen.push(change);
        if (seen.length === 2) await owner.grants.revoke(grant.grant_id);
        if (change.type === 'grant.revoked') break;
      }
      expect(seen.at(-1)).toMatchObject({ type: 'grant.revoked', grant_id: grant.grant_id });
      const after = seen.at(-2)?.log_index;
      const again = (await all(bank.changes({ after }))).filter(
        (change) => change.log_index === seen.at(-1)?.log_index,
      );
      expect(again).toEqual([seen.at(-1)]);
    });

    it('webhook subscriptions can be created, tested, listed and deleted', async () => {
      const tenant = client().tenant(tenantId);
      const { webhook_subscription: subscription, secret } = await tenant.webhooks.create({
        target_url: `${service.inboxUrl}/hooks/client`,
        event_types: ['identity.snapshot.created'],
      });
      const id = subscription.subscription_id;
      const sent = await tenant.webhooks.test(id);
      const delivery = await waitFor(
        async () => {
          const found = await tenant.webhooks.delivery(id, sent.delivery_id);
          return found.attempts.length > 0 ? found : undefined;
        },
        { what: 'an attempt' },
      );
      expect(delivery.event_type).toBe('webhook.test');
      expect(secret).toMatch(/^whsec_/);
      expect(await all(tenant.webhooks.deliveries(id))).toHaveLength(1);
      await tenant.webhooks.delete(id);
      expect(await all(tenant.webhooks.list())).toEqual([]);
    });
  });

  it('the documented program of the client prints the documented output in Node', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'iss-client-page-'));
    try {
      const settings = await settingsOf(service, join(folder, 'trust.json'));
      const program = join(folder, 'page.mjs');
      await build({
        stdin: { contents: programFor('node'), loader: 'ts', resolveDir: repositoryRoot },
        outfile: program,
        bundle: true,
        format: 'esm',
        platform: 'node',
        conditions: ['iss-source'],
        banner: { js: 'globalThis.settings = JSON.parse(process.env.SETTINGS);' },
        logLevel: 'warning',
      });
      const output = await promisify(execFile)(process.execPath, [program], {
        env: { SETTINGS: JSON.stringify(settings) },
      });
      for (const line of PRINTED) expect(output.stdout).toContain(line);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
