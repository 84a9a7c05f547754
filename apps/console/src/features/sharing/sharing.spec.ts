/** @jest-environment ./src/testing/environment.cjs */
import '../../testing/dom.ts';
import '../../testing/dom.ts';
import type { api } from '@identity-state/client';
import { type Grant, hasStatus, isOnAll, scopeNames, grantStatusOf } from '../../entities/grant.tsx';
import { boundsOf, momentsOfChange, lanesOf } from './access-axis.ts';
import { daysOf, type Disclosure, keyOfDisclosure } from './disclosures.tsx';
import { outcomeOf, wantedOf } from './make/grants-to-make.ts';

const DAY = 86_400_000;
const grant = (changes: Partial<Grant>): Grant => ({
  paths: null,
  starts_at: null,
  grant_id: 'g-1',
  grantor_tenant_id: 'acme',
  grantee_tenant_id: 'beta',
  subject_type: 'organization',
  subject_id: 'acme-corp',
  scopes: ['read_latest'],
  expires_at: null,
  created_at: '2026-01-01T00:00:00Z',
  revoked_at: null,
  status: 'active',
  granted_by: 'oidc:dev#alice',
  purpose: null,
  accepted_at: null,
  ...changes,
});
const inDays = (days: number): string => new Date(Date.now() + days * DAY).toISOString();

describe('the status of a grant', () => {
  it.each([
    [{}, 'live', ['live']],
    [{ expires_at: inDays(31) }, 'live', ['live']],
    [{ expires_at: inDays(29) }, 'expiring', ['live', 'expiring']],
    [{ status: 'expired' }, 'expired', ['expired']],
    [{ status: 'revoked' }, 'revoked', ['revoked']],
  ] as const)('grantStatusOf %j is %s', (changes, status, fits) => {
    const all = ['live', 'expiring', 'expired', 'revoked'];
    expect(grantStatusOf(grant(changes))).toBe(status);
    expect(all.filter((wanted) => hasStatus(grant(changes), wanted))).toEqual(fits);
    expect(hasStatus(grant(changes), undefined)).toBe(true);
  });
});

it('scopeNames returns the labels of scopes', () =>
  expect(scopeNames(['read_latest', 'read_diff'])).toBe('Latest, Differences'));
it.each([
  ['*', true],
  ['organization', false],
] as const)('isOnAll of subject type %s is %s', (type, expected) => {
  expect(isOnAll({ subject_type: type })).toBe(expected);
});

describe('wantedOf', () => {
  const form = {
    grantees: 'beta',
    isAll: false,
    subjects: 'organization/a',
    scopes: ['read_latest'],
    isPart: false,
    paths: '',
    start: '',
    until: '',
    purpose: '',
  } as const;
  const each = (changes: object): unknown[] =>
    wantedOf({ ...form, ...changes }).bodies.map((body) => [
      body.grantee_tenant_id,
      body.subject_type,
      body.subject_id,
    ]);

  it.each([
    [{}, [['beta', 'organization', 'a']]],
    [
      { grantees: 'beta, gamma\n beta' },
      [
        ['beta', 'organization', 'a'],
        ['gamma', 'organization', 'a'],
      ],
    ],
    [
      { subjects: 'entity/a/b\n\nindividual/c\nentity/a/b' },
      [
        ['beta', 'entity', 'a/b'],
        ['beta', 'individual', 'c'],
      ],
    ],
    [{ isAll: true, subjects: 'wrong' }, [['beta', '*', undefined]]],
    [{ grantees: '' }, []],
    [{ subjects: '' }, []],
    [{ scopes: [] }, []],
    [{ grantees: '-beta' }, []],
    [{ grantees: 'b'.repeat(129) }, []],
    [{ subjects: 'organization/' }, []],
    [{ subjects: 'company/a' }, []],
    [{ until: '2000-01-01T00:00' }, []],
    [{ until: 'x' }, []],
    [{ isPart: true }, []],
    [{ isPart: true, paths: 'legal' }, []],
    [{ start: '2999-01-01T00:00', until: '2998-01-01T00:00' }, []],
  ])('returns the requests of %j', (changes, expected) => {
    expect(each(changes)).toEqual(expected);
  });

  it.each([
    [{ grantees: '-beta' }, 'granteeFault'],
    [{ subjects: 'x' }, 'subjectFault'],
    [{ until: '2000-01-01T00:00' }, 'untilFault'],
    [{ start: '2000-01-01T00:00' }, 'startFault'],
    [{ start: '2999-01-01T00:00', until: '2999-01-01T00:00' }, 'startFault'],
    [{ isPart: true }, 'pathsFault'],
  ] as const)('names the fault of %j', (changes, fault) => {
    const faults = Object.entries(wantedOf({ ...form, ...changes })).filter(([name]) => name.endsWith('Fault'));
    expect(faults.flatMap(([name, value]) => (value === undefined ? [] : [name]))).toEqual([fault]);
  });

  it('contains paths, start, end and purpose only if they are given', () => {
    const [start, until] = ['2998-01-01T00:00', '2999-01-01T00:00'];
    const paths = '/attributes/legal\n/attributes/contact';
    const [body] = wantedOf({ ...form, isPart: true, paths, start, until, purpose: ' Loan ' }).bodies;
    expect(body).toMatchObject({
      paths: ['/attributes/contact', '/attributes/legal'],
      starts_at: new Date(start).toISOString(),
      expires_at: new Date(until).toISOString(),
      purpose: 'Loan',
      scopes: ['read_latest'],
    });
    expect(Object.keys(wantedOf({ ...form, paths }).bodies[0] ?? {})).not.toContain('paths');
  });
});

describe('the outcome of requests for grants', () => {
  const bodies = ['beta', 'gamma', 'delta'].map((grantee) => ({
    grantee_tenant_id: grantee,
    subject_type: '*' as const,
    scopes: ['read_latest' as const],
  }));
  const refusal = { code: 'forbidden', message: 'No such tenant.', request_id: 'r-1' } as const;
  const pending: api.PendingGrant = {
    paths: null,
    starts_at: null,
    grant_id: 'g-1',
    grantor_tenant_id: 'acme',
    grantee_tenant_id: 'beta',
    subject_type: '*',
    subject_id: '*',
    scopes: ['read_latest'],
    expires_at: null,
    purpose: null,
    status: 'pending',
    requested_by: 'oidc:dev#alice',
    created_at: '2026-01-20T08:00:00.000Z',
    confirm_by: '2026-01-21T08:00:00.000Z',
    confirmed_by: null,
    confirmed_at: null,
    cancelled_by: null,
    cancelled_at: null,
  };

  it('outcomeOf counts created, pending and refused grants of a batch, and adds earlier ones', () => {
    const first = outcomeOf(null, bodies, {
      items: [
        { index: 0, status: 202, pending_grant: pending },
        { index: 1, status: 403, error: refusal },
        { index: 2, status: 201, grant: grant({ grantee_tenant_id: 'delta' }) },
      ],
    });
    expect(first).toEqual({ made: 1, waiting: 1, refused: [{ body: bodies[1], why: 'No such tenant.' }] });
    const again = outcomeOf(first, bodies.slice(1, 2), { ...grant({}), grant: grant({}) });
    expect(again).toEqual({ made: 2, waiting: 1, refused: [] });
  });

  it('outcomeOf counts a pending grant of one request', () => {
    expect(outcomeOf(null, bodies.slice(0, 1), pending)).toEqual({ made: 0, waiting: 1, refused: [] });
  });
});

describe('the access history', () => {
  const period = (from: string, until: string | null, grantee = 'beta'): api.AccessPeriod => ({
    paths: null,
    grant_id: 'g-1',
    grantee_tenant_id: grantee,
    subject_type: 'organization',
    subject_id: 'acme-corp',
    scopes: ['read_latest'],
    from,
    until,
    ended_by: until === null ? null : 'revoked',
    granted: { log_index: 1 },
    ended: { log_index: null },
  });
  const at = (day: number): string => new Date(day * DAY).toISOString();

  it.each([
    ['ends before now', [period(at(10), at(20))], 110, { from: 2 * DAY, to: 118 * DAY }],
    ['ends after now', [period(at(10), at(110))], 20, { from: 2 * DAY, to: 118 * DAY }],
    ['has no end', [period(at(10), null)], 110, { from: 2 * DAY, to: 118 * DAY }],
    ['begins after now', [period(at(110), null)], 10, { from: 10 * DAY - 60_000, to: 10 * DAY + 60_000 }],
  ])('has an axis that contains the current time and a period that %s', (_what, periods, now, expected) => {
    expect(boundsOf(periods, now * DAY)).toEqual(expected);
  });

  it('has an axis of two minutes for a single moment', () => {
    expect(boundsOf([], 0)).toEqual({ from: -60_000, to: 60_000 });
  });

  it('has sorted, unique times of change, and keeps the order of tenants', () => {
    const periods = [period(at(3), at(5)), period(at(1), at(3), 'gamma'), period(at(5), null)];
    expect(momentsOfChange(periods)).toEqual([1, 3, 5].map((day) => day * DAY));
    expect(lanesOf(periods).map(([name, all]) => [name, all.length])).toEqual([
      ['beta', 2],
      ['gamma', 1],
    ]);
  });
});

describe('the disclosures', () => {
  const on = (day: string): Disclosure => ({
    paths: null,
    disclosed_on: day,
    subject_type: 'organization',
    subject_id: 'acme-corp',
    from_version: 1,
    to_version: 1,
    grantee_tenant_id: 'beta',
    grant_id: null,
    purpose: null,
    principal_id: 'oidc:dev#bob',
    via: 'snapshot',
    first_at: `${day}T08:15:00.000Z`,
    request_id: 'r-1',
  });

  it.each([
    [[], 0, undefined, undefined],
    [['2026-01-20'], 15, '2026-01-07', '2026-01-21'],
    [['2026-01-20', '2025-12-20'], 34, '2025-12-19', '2026-01-21'],
    [['2026-01-20', '2020-01-01'], 367, '2025-01-20', '2026-01-21'],
    [['no day'], 0, undefined, undefined],
  ])('are plotted for the days %j and days around them', (days, count, first, last) => {
    const all = daysOf(days.map(on));
    expect([all.length, all[0], all.at(-1)]).toEqual([count, first, last]);
  });

  it('have different keys', () => {
    const keys = [
      on('2026-01-20'),
      { ...on('2026-01-20'), via: 'diff' as const },
      { ...on('2026-01-20'), to_version: 2 },
    ];
    expect(new Set(keys.map(keyOfDisclosure)).size).toBe(3);
  });
});
