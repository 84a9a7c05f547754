import { DomainError } from '@iss/domain';
import type { NewDisclosure } from '@iss/persistence';
import { Disclosures } from './disclosures';

const READER = { tenantId: 'beta', principalId: 'bob', requestId: 'r-1' };
const TO_BETA = { subjectKey: 7, granteeTenantId: 'beta', grantId: 'g-1', paths: null };
const FIRST = { from: 1, to: 1 };
const EVENING = Date.parse('2026-01-15T23:59:59.999Z');

let stored: NewDisclosure[];
let nowMs: number;
let failure: Error | null;
let disclosures: Disclosures;

beforeEach(() => {
  stored = [];
  nowMs = EVENING;
  failure = null;
  const record = async (disclosure: NewDisclosure): Promise<void> => {
    if (failure !== null) throw failure;
    stored.push(disclosure);
  };
  disclosures = new Disclosures({ record }, () => nowMs);
});

it('Disclosures records the first disclosure of a day, and again on the next day', async () => {
  await disclosures.record(READER, TO_BETA, FIRST, 'snapshot');
  await disclosures.record({ ...READER, requestId: 'r-2' }, TO_BETA, FIRST, 'snapshot');
  const first = {
    subjectKey: 7,
    disclosedOn: '2026-01-15',
    granteeTenantId: 'beta',
    grantId: 'g-1',
    principalId: 'bob',
    via: 'snapshot',
    fromVersion: 1,
    toVersion: 1,
    requestId: 'r-1',
    paths: null,
  };
  expect(stored).toEqual([first]);
  nowMs += 1;
  await disclosures.record({ ...READER, requestId: 'r-3' }, TO_BETA, FIRST, 'snapshot');
  expect(stored).toEqual([first, { ...first, disclosedOn: '2026-01-16', requestId: 'r-3' }]);
});

it.each<[string, Parameters<Disclosures['record']>]>([
  ['another principal', [{ ...READER, principalId: 'carol' }, TO_BETA, FIRST, 'snapshot']],
  ['another tenant', [READER, { ...TO_BETA, granteeTenantId: 'gamma' }, FIRST, 'snapshot']],
  ['another grant', [READER, { ...TO_BETA, grantId: 'g-2' }, FIRST, 'snapshot']],
  ['another subject', [READER, { ...TO_BETA, subjectKey: 8 }, FIRST, 'snapshot']],
  ['another version', [READER, TO_BETA, { from: 2, to: 2 }, 'snapshot']],
  ['other paths', [READER, { ...TO_BETA, paths: ['/attributes/legal'] }, FIRST, 'snapshot']],
  ['more versions', [READER, TO_BETA, { from: 1, to: 2 }, 'snapshot']],
  ['another kind of read', [READER, TO_BETA, FIRST, 'headers']],
])('Disclosures records %s as another disclosure', async (_, other) => {
  await disclosures.record(READER, TO_BETA, FIRST, 'snapshot');
  await disclosures.record(...other);
  expect(stored).toHaveLength(2);
});

it('Disclosures records the widest paths, split into records that fit into the log', async () => {
  const long = Array.from(
    { length: 250 },
    (_, index) => `/attributes/${String(index).padStart(3, '0')}${'x'.repeat(190)}`,
  );
  await disclosures.record(
    READER,
    { ...TO_BETA, paths: [...long, '/attributes/zz/a', '/attributes/zz'] },
    FIRST,
    'snapshot',
  );
  expect(stored.length).toBe(3);
  expect(stored.flatMap(({ paths }) => paths)).toEqual([...long, '/attributes/zz']);
  for (const { paths } of stored) expect(JSON.stringify(paths).length).toBeLessThanOrEqual(20_001);
});

it('Disclosures records nothing for an owner or without a grant', async () => {
  await disclosures.record(READER, null, FIRST, 'snapshot');
  await disclosures.record({ ...READER, tenantId: null }, { ...TO_BETA, granteeTenantId: null }, FIRST, 'snapshot');
  expect(stored).toEqual([]);
});

it('Disclosures refuses a read that cannot be recorded, and records it the next time', async () => {
  failure = new Error('permission denied');
  const refused = disclosures.record(READER, TO_BETA, FIRST, 'snapshot');
  await expect(refused).rejects.toBeInstanceOf(DomainError);
  await expect(refused).rejects.toMatchObject({ code: 'unavailable', cause: failure });
  failure = null;
  await disclosures.record(READER, TO_BETA, FIRST, 'snapshot');
  expect(stored).toHaveLength(1);
});
