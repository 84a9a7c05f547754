import type { api } from '@identity-state/client';
import { settingsOf } from '../src/settings';
import { type FakeService, fakeService, Refusal } from './testing/fake-service';
import { iss } from './testing/run-iss';

let service: FakeService;
beforeAll(async () => {
  service = await fakeService();
});
afterAll(() => service.close());
beforeEach(() => {
  service.asked.length = 0;
  service.answers = {};
});

const run = (line: string) =>
  iss(line.split(' '), {
    settings: settingsOf({ ISS_TOKEN: 't', ISS_BASE_URL: service.url, ISS_TENANT: 'agency' }, 'linux'),
  });
const SUBJECT = '/v1/tenants/agency/subjects/organization/harbour';
const page = (...items: readonly unknown[]) => ({ items, next_cursor: null });

describe('iss proof', () => {
  it.each([
    ['--latest harbour', `${SUBJECT}/latest-proof`, ''],
    ['--absence versions individual/jane', '/v1/tenants/agency/subjects/individual/jane/absence-proof', '&stream=v'],
    ['--absence grants harbour', `${SUBJECT}/absence-proof`, '&stream=p'],
    ['--absence audit', '/v1/tenants/agency/absence-proof', '&stream=d'],
    ['--absence disclosures harbour --records-from 7', `${SUBJECT}/absence-proof`, '&stream=r&records_from=7'],
    ['--absence received-general-grants', '/v1/tenants/agency/absence-proof', '&stream=p'],
    ['--state g1', '/v1/tenants/agency/grants/g1/state-proof', ''],
  ])('prints the proof: %s', async (words, path, query) => {
    service.answers = { [`GET ${path}`]: { number: 1 } };
    const { exitCode, printed } = await run(`proof ${words}`);
    expect([exitCode, JSON.parse(printed)]).toEqual([0, { number: 1 }]);
    expect(service.asked).toMatchObject([{ request: `GET ${path}?wait=10${query}` }]);
  });
});

describe('iss redeliver', () => {
  it('counts the deliveries of all parts of a period', async () => {
    const parts = [
      { count: 2, has_more: true, next_from: '2026-01-02T00:00:00Z' },
      { count: 3, has_more: false, next_from: null },
    ];
    service.answers = { 'POST /v1/webhook-subscriptions/w1/deliveries/replay': () => parts.shift() };
    expect(await run('redeliver w1 --from 2026-01-01')).toMatchObject({
      exitCode: 0,
      printed: 'Deliveries to resend: 5',
    });
    expect(service.asked.map(({ body }) => body)).toEqual([
      { from: '2026-01-01T00:00:00Z' },
      { from: '2026-01-02T00:00:00Z' },
    ]);
  });

  it.each(['redeliver w1', 'redeliver w1 d1 --from 2026-01-01'])(
    'requires either a delivery or a period: iss %s',
    async (line) => {
      expect(await run(line)).toMatchObject({ exitCode: 2, complaint: expect.stringMatching(/^Name either DELIVERY/) });
      expect(service.asked).toEqual([]);
    },
  );
});

describe('iss who', () => {
  const period = (changes: Partial<api.AccessPeriod>): Partial<api.AccessPeriod> => ({
    grant_id: 'g1',
    grantee_tenant_id: 'bank',
    subject_type: 'organization',
    subject_id: 'harbour',
    scopes: ['read_latest'],
    from: '2026-01-01T00:00:00Z',
    until: null,
    ended_by: null,
    ...changes,
  });
  const revoked = period({ until: '2026-03-01T00:00:00Z', ended_by: 'revoked' });

  it.each<[string, Partial<api.AccessPeriod>[], string, exitCode: number, RegExp]>([
    ['a live grant', [period({})], '2026-02-01', 0, /^bank +read_latest +grant g1, since 2026-01-01T00:00:00Z$/m],
    ['the first moment of a grant', [period({})], '2026-01-01', 0, /^bank +read_latest/m],
    [
      'a time before the first grant',
      [period({})],
      '2025-12-31',
      1,
      /its first grant, g1, began at 2026-01-01T00:00:00Z\.$/,
    ],
    ['a time before a revocation', [revoked], '2026-02-28', 0, /grant g1, since .*, until 2026-03-01T00:00:00Z$/m],
    [
      'the moment of a revocation',
      [revoked],
      '2026-03-01',
      1,
      /^bank may not read .* at 2026-03-01T00:00:00Z: grant g1 was revoked at/,
    ],
    [
      'an expired grant',
      [period({ until: '2026-03-01T00:00:00Z', ended_by: 'expired' })],
      '2026-04-01',
      1,
      /: grant g1 ended at 2026-03-01T00:00:00Z\.$/,
    ],
    [
      'two ended grants by the latest',
      [period({ grant_id: 'old', until: '2026-01-02T00:00:00Z', ended_by: 'expired' }), revoked],
      '2026-04-01',
      1,
      /: grant g1 was revoked/,
    ],
    [
      'two future grants by the earliest',
      [period({ grant_id: 'later', from: '2027-01-01T00:00:00Z' }), period({ from: '2026-05-01T00:00:00Z' })],
      '2026-04-01',
      1,
      /: its first grant, g1, began at 2026-05-01T00:00:00Z/,
    ],
    [
      'two live grants',
      [period({}), period({ grant_id: 'g2', subject_type: '*', scopes: ['read_diff'] })],
      '2026-04-01',
      0,
      /read_latest[^]*\nbank +read_diff +grant g2 on every subject, since/,
    ],
    [
      'a reader without a grant',
      [period({ grantee_tenant_id: 'other' })],
      '2026-04-01',
      1,
      /: it never had a grant on the subject\.$/,
    ],
  ])('returns the right at a time and its reason: %s', async (_what, periods, at, exitCode, text) => {
    service.answers = { [`GET ${SUBJECT}/access-history`]: page(...periods) };
    const outcome = await run(`who harbour bank --at ${at}`);
    expect(outcome.exitCode).toBe(exitCode);
    expect(exitCode === 0 ? outcome.printed : outcome.complaint).toMatch(text);
  });

  it('lists the owner first, then each reader with its live or last grant', async () => {
    service.answers = { [`GET ${SUBJECT}/access-history`]: page(revoked, period({ grantee_tenant_id: 'fund' })) };
    const { printed } = await run('who harbour --at 2026-04-01 --json');
    expect(JSON.parse(printed).rights.map((right: { tenant_id: string; may_read: string[] }) => right)).toMatchObject([
      { tenant_id: 'agency', may_read: ['everything'] },
      { tenant_id: 'bank', may_read: [], why: 'grant g1 was revoked at 2026-03-01T00:00:00Z' },
      { tenant_id: 'fund', may_read: ['read_latest'] },
    ]);
  });

  it('shows a grantee the rights of its members, and who lacks allow_counterparty_access', async () => {
    service.answers = {
      [`GET ${SUBJECT}/access-history`]: new Refusal(403, 'forbidden', 'No.'),
      'GET /v1/tenants/agency/accessible-subjects': page({
        subject_type: 'organization',
        subject_id: 'harbour',
        scopes: ['read_latest'],
        grant_id: 'g1',
        granted_by_tenant_id: 'owner',
        expires_at: null,
      }),
      'GET /v1/tenants/agency/principals': page(
        { principal_id: 'ann', status: 'active', api_functional_role: 'tenant_owner', allow_counterparty_access: true },
        { principal_id: 'bob', status: 'active', api_functional_role: 'reader', allow_counterparty_access: false },
        { principal_id: 'eve', status: 'removed', api_functional_role: 'reader', allow_counterparty_access: true },
      ),
    };
    const { printed, exitCode } = await run('who harbour');
    expect([exitCode, printed.split('\n').map((line) => line.split(/ {2,}/))]).toEqual([
      0,
      [
        ['WHO', 'MAY READ', 'WHY'],
        ['agency', 'read_latest', 'grant g1 of owner'],
        ['ann', 'read_latest', 'tenant_owner of agency'],
        ['bob', 'nothing', 'cannot use grants. An account_admin can set allow_counterparty_access'],
        ['eve', 'nothing', 'no longer a member'],
      ],
    ]);
  });
});

describe('a command', () => {
  it.each<[string, string, unknown?]>([
    [
      'share harbour bank --scopes latest,diff --until 2099-01-01 --purpose Review',
      'POST /v1/tenants/agency/grants',
      {
        grantee_tenant_id: 'bank',
        subject_type: 'organization',
        subject_id: 'harbour',
        scopes: ['read_latest', 'read_diff'],
        expires_at: '2099-01-01T00:00:00Z',
        purpose: 'Review',
      },
    ],
    ['revoke g1', 'POST /v1/tenants/agency/grants/g1/revoke'],
    ['withdraw u1', 'GET /v1/tenants/agency/entity-state-updates/u1'],
    ['log individual/jane', 'GET /v1/tenants/agency/subjects/individual/jane/history?view=full&order=desc&limit=20'],
    ['blame harbour@2 /attributes/legal', `GET ${SUBJECT}/provenance?path=%2Fattributes%2Flegal&version=2`],
    ['diff harbour 3 --json', `GET ${SUBJECT}/diff?from_version=2&to_version=3`],
    ['diff harbour v1..4 --json', `GET ${SUBJECT}/diff?from_version=1&to_version=4`],
    ['hooks', 'GET /v1/webhook-subscriptions?tenant_id=agency'],
    ['hooks end w1', 'DELETE /v1/webhook-subscriptions/w1'],
    [
      'hooks create http://r.example/ --events grant.created',
      'POST /v1/webhook-subscriptions',
      { tenant_id: 'agency', target_url: 'http://r.example/', event_types: ['grant.created'] },
    ],
    ['hooks change w1 --disable', 'PATCH /v1/webhook-subscriptions/w1', { status: 'disabled' }],
    ['hooks rotate w1 --grace 60', 'POST /v1/webhook-subscriptions/w1/rotate-secret', { grace_seconds: 60 }],
    ['attestations', 'GET /v1/tenants/agency/attestations'],
    ['issuers remove https://r.example', 'DELETE /v1/tenants/agency/trusted-issuers/https%3A%2F%2Fr.example'],
    ['redeliver w1 d1', 'POST /v1/webhook-subscriptions/w1/deliveries/d1/redeliver'],
    [
      'redeliver w1 --from 2026-01-01 --status dead',
      'POST /v1/webhook-subscriptions/w1/deliveries/replay',
      { from: '2026-01-01T00:00:00Z', status: 'dead' },
    ],
    ['get harbour@2 --tenant other', 'GET /v1/tenants/other/subjects/organization/harbour/snapshots/2'],
    ['get harbour@2', `GET ${SUBJECT}/snapshots/2`],
    ['get harbour --as-of 2026-01-01', `GET ${SUBJECT}/snapshots/latest?as_of=2026-01-01T23%3A59%3A59.999Z`],
    [
      'get harbour --as-of 2026-01-01T00:00:00Z --basis effective',
      `GET ${SUBJECT}/snapshots/latest?as_of=2026-01-01T00%3A00%3A00Z&basis=effective`,
    ],
    ['changes --type grant.created --after 4', 'GET /v1/tenants/agency/changes?type=grant.created&limit=500&after=4'],
  ])('sends one request: iss %s', async (line, request, body = null) => {
    const { exitCode, complaint } = await run(line);
    // The fake service answers every request with 404.
    expect([exitCode, complaint]).toEqual([1, expect.stringMatching(/^There is no such thing \(404, request r-1\)\./)]);
    expect(service.asked).toMatchObject([{ request, body, authorization: 'Bearer t' }]);
  });
});
