import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
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
import { type StartedService, startService } from '../../testing/started-service.ts';
import { firstEnvelope, lyingFetch } from './testing.ts';

jest.setTimeout(180_000);

let service: StartedService;
let token = '';
const tenantId = `client-${randomUUID().slice(0, 8)}`;

beforeAll(async () => {
  service = await startService();
  token = await service.token('carol');
  await client().createTenant({ tenant_id: tenantId, name: 'Client' });
});
afterAll(() => service?.close());

/** A client that has seen nothing yet. */
function client(changes: Partial<IdentityStateOptions> = {}): IdentityState {
  return new IdentityState({ baseUrl: service.baseUrl, token: () => token, ...changes });
}
const policy = (): string => readFileSync(service.logPolicyFile, 'utf8');

/** A new subject of two versions. */
async function company(): Promise<string> {
  const subjectId = `company-${randomUUID()}`;
  const iss = client();
  const path = `/v1/tenants/${tenantId}`;
  await iss.request('POST', `${path}/entity-states`, { body: firstEnvelope(subjectId) });
  const second = firstEnvelope(subjectId, { snapshot_version: 2, attributes: { legal: { legal_name: 'Second' } } });
  await iss.request('POST', `${path}/entity-states`, { body: second });
  return subjectId;
}

describe('reads', () => {
  it('verify what they hand over', async () => {
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

  it('prove by the log what the policy takes as valid', async () => {
    const subjectId = await company();
    const subject = client({ trust: { policy: policy() } })
      .tenant(tenantId)
      .organization(subjectId);
    const log = verificationOf(await subject.latest())?.log;
    expect(log).toMatchObject({ tenantId, checkpoint: { cosignedBy: [expect.stringContaining('witness')] } });
  });

  it('tell errors by their class', async () => {
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

describe('a proxy that lies', () => {
  let subjectId = '';
  beforeAll(async () => {
    subjectId = await company();
  });

  const LIES: readonly (readonly [what: string, failure: VerificationFailure, lie: (text: string) => string])[] = [
    ['a value of the content', 'hash', (text) => text.replace('"Second"', '"Third"')],
    ['a member more', 'hash', (text) => text.replace('"legal":{', '"legal":{"a":1,')],
    ['a member twice', 'malformed', (text) => text.replace('"legal":{', '"legal":{"legal_name":"First",')],
    ['the hash', 'hash', (text) => text.replace(/("envelope_hash":")[0-9a-f]{8}/, '$100000000')],
    ['no hash', 'unhashed', (text) => text.replace(/"envelope_hash":"[0-9a-f]+"/, '"envelope_hash":null')],
    ['no link', 'chain', (text) => text.replace(/"prev_hash":"[0-9a-f]+"/, '"prev_hash":null')],
    ['no content', 'envelope_missing', (text) => text.replace('"envelope":', '"other":')],
    [
      'another number',
      'header',
      (text) => text.replace('"snapshot_version":2,"generated_at"', '"snapshot_version":3,"generated_at"'),
    ],
    ['another time', 'header', (text) => text.replace(/("generated_at":")\d{4}/, '$11999')],
    ['another id', 'header', (text) => text.replace(/("snapshot_id":")[0-9a-f]{8}/, '$100000000')],
    ['another subject', 'other_subject', (text) => text.replaceAll(subjectId, 'somebody-else')],
    ['something else', 'malformed', () => '[]'],
    ['no JSON', 'malformed', (text) => text.slice(0, -1)],
  ];

  it.each(LIES)('about %s is found out: %s', async (_what, failure, lie) => {
    const iss = client({ fetch: lyingFetch((text) => lie(text)) });
    const read = iss.tenant(tenantId).organization(subjectId).latest();
    await expect(read).rejects.toMatchObject({ name: 'VerificationError', failure });
  });
});
