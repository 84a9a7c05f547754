import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type Change, IdentityState, verifyWebhook } from '@identity-state/client';
import { newWebhookSecret } from '@iss/domain';
import { FeedEvents } from '../src/listen/events';
import { forward } from '../src/listen/forward';

const at = '2026-01-15T10:00:00.000Z';
const subject = { subject_type: 'organization', subject_id: 'harbour' } as const;
const SNAPSHOT_ID = '2f6c1a7e-5d0b-4a8e-9b53-6f1f1f0a0001';
const created: Change = {
  ...subject,
  subject,
  type: 'snapshot.created',
  log_index: 1,
  tenant_id: 'agency',
  snapshot_id: SNAPSHOT_ID,
  snapshot_version: 3,
  envelope_hash: 'ab',
  prev_hash: null,
  created_at: at,
  written_by: 'oidc:p#alice',
  write_request_id: 'request-1',
  change_kind: 'correction',
  changed_paths: ['/attributes/legal/form'],
};
const grant = { ...subject, subject, tenant_id: 'agency', grant_id: 'g', grantee_tenant_id: 'bank' } as const;
const granted: Change = {
  ...grant,
  type: 'grant.created',
  log_index: 2,
  scopes: ['read_latest'],
  paths: null,
  starts_at: null,
  expires_at: null,
  created_at: at,
};
const changed: Change = {
  ...grant,
  type: 'grant.changed',
  log_index: 3,
  scopes: ['read_diff'],
  paths: ['/attributes/legal'],
  starts_at: at,
  expires_at: at,
  changed_at: at,
};
const revoked: Change = { ...grant, type: 'grant.revoked', log_index: 4, revoked_at: at };
const erased: Change = {
  ...subject,
  subject,
  type: 'subject.erased',
  log_index: 5,
  tenant_id: 'agency',
  erased_indexes: [0],
  erased_at: at,
};
const owned: Change = {
  type: 'tenant.owner_changed',
  log_index: 6,
  tenant_id: 'agency',
  principal_id: 'oidc:p#ann',
  from_principal_id: null,
  changed_at: at,
};

/** Makes the events of a feed with these changes, and a history with an erased version. */
function eventsOf(feed: readonly Change[], tenantId = 'agency'): FeedEvents {
  const fetch: typeof globalThis.fetch = async (input) => {
    const { pathname, searchParams } = new URL(String(input));
    const header = { ...subject, snapshot_id: SNAPSHOT_ID, snapshot_version: 1, envelope_hash: null };
    if (pathname.endsWith('/history')) {
      const receipt = { erasure_id: 'e', erased_at: at };
      const items = [
        { ...header, subject, prev_hash: null, erased: receipt },
        { ...header, subject, snapshot_version: 2, prev_hash: null },
      ];
      return Response.json({ items, next_cursor: null });
    }
    const items = feed.filter(({ type }) => type === searchParams.get('type'));
    return Response.json({ items, next_after: items.at(-1)?.log_index ?? null, has_more: false });
  };
  const tenant = new IdentityState({ baseUrl: 'http://iss.example', fetch }).tenant(tenantId);
  return new FeedEvents(tenant, 'http://iss.example');
}

describe('a change of the feed', () => {
  const shown = { grant_id: 'g', owner_tenant_id: 'agency', grantee_tenant_id: 'bank', subject };
  it.each<[string, Change, string, object]>([
    ['agency', created, 'identity.snapshot.created', { subject, snapshot_version: 3, envelope_hash: 'ab' }],
    ['bank', created, 'shared.snapshot.created', { owner_tenant_id: 'agency', subject, snapshot_version: 3 }],
    [
      'agency',
      granted,
      'grant.created',
      { ...shown, scopes: ['read_latest'], paths: null, starts_at: null, expires_at: null },
    ],
    [
      'bank',
      changed,
      'grant.changed',
      { ...shown, scopes: ['read_diff'], paths: ['/attributes/legal'], starts_at: at, expires_at: at },
    ],
    ['agency', revoked, 'grant.revoked', { ...shown, scopes: ['read_diff'], expires_at: at }],
    ['agency', erased, 'subject.erased', { subject, erasure_id: 'e', versions: [1], erased_at: at }],
  ])('becomes an event for the tenant %s: %#', async (tenantId, change, type, data) => {
    const event = await eventsOf([granted, changed, revoked], tenantId).of(change);
    expect(event?.type).toBe(type);
    expect(JSON.parse(event?.body ?? '')).toMatchObject({
      id: event?.id,
      type,
      tenant_id: tenantId,
      created_at: at,
      data,
    });
    // The same change gives the same event. Another tenant gets another event.
    expect(await eventsOf([granted, changed, revoked], tenantId).of(change)).toEqual(event);
    expect((await eventsOf([granted, changed], 'third').of(change))?.id).not.toBe(event?.id);
  });

  it('becomes no event if it changes owners, and fails if its grant or erasure is unknown', async () => {
    expect(await eventsOf([]).of(owned)).toBeNull();
    await expect(eventsOf([]).of(revoked)).rejects.toThrow('The feed has no terms of the grant g.');
    const later: Change = { ...granted, log_index: 9 };
    await expect(eventsOf([later]).of(revoked)).rejects.toThrow(/has no terms of the grant/);
    const other: Change = { ...erased, erased_at: '2025-01-01T00:00:00.000Z' };
    await expect(eventsOf([]).of(other)).rejects.toThrow(/The history shows no version that was erased/);
  });
});

describe('forward', () => {
  const secret = newWebhookSecret();
  let server: Server;
  let url: string;
  let statuses: number[];
  let received: unknown[];
  beforeAll(async () => {
    server = createServer((request, response) => {
      const answer = async (): Promise<void> => {
        received.push(await verifyWebhook(await buffer(request), request.headers, secret));
        const status = statuses.shift() ?? 204;
        if (status === 0) response.destroy();
        else response.writeHead(status, { location: '/elsewhere' }).end('text');
      };
      answer().catch(() => response.writeHead(401).end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });
  beforeEach(() => {
    statuses = [];
    received = [];
  });

  const send = async (signal = new AbortController().signal) => {
    const troubles: string[] = [];
    const event = await eventsOf([granted]).of(granted);
    if (event === null) throw new Error('a grant is told of');
    const receipt = forward(url, event, { secret, signal, onTrouble: (why) => troubles.push(why) });
    return { receipt, troubles };
  };

  it.each([
    [[204], 204, 1, []],
    [[400], 400, 1, []],
    [[302], 302, 1, []],
    [[503, 429, 200], 200, 3, ['it answers 503']],
    [[0, 204], 204, 2, [expect.stringMatching(/^no answer: \w/)]],
  ])(
    'sends an event to a receiver that answers %j until status %i at attempt %i',
    async (plan, status, attempts, said) => {
      statuses = [...plan];
      const { receipt, troubles } = await send();
      expect(await receipt).toMatchObject({ status, attempts });
      expect(troubles).toEqual(said);
      expect(received).toHaveLength(attempts);
      expect(new Set(received.map((event) => JSON.stringify(event))).size).toBe(1);
    },
  );

  it('makes no further attempt when the command ends', async () => {
    statuses = Array.from({ length: 50 }, () => 503);
    const ending = new AbortController();
    const { receipt } = await send(ending.signal);
    ending.abort(new RangeError('enough'));
    await expect(receipt).rejects.toThrow();
    expect(received.length).toBeLessThanOrEqual(1);
  });
});
