import { rowOf, rowShape } from './row-shape';

const NAMES = [
  'facts.membership?.role',
  'facts.membership?.status',
  'facts.ownsSubject',
  'grant?.grantId',
  'grant?.expiresAt',
  'position',
];

it('builds nested members, and null for missing members', () => {
  const shape = rowShape(NAMES);
  expect(rowOf(shape, ['tenant_reader', 'active', true, 'g-1', null, '1'])).toEqual({
    facts: { membership: { role: 'tenant_reader', status: 'active' }, ownsSubject: true },
    grant: { grantId: 'g-1', expiresAt: null },
    position: '1',
  });
  expect(rowOf(shape, [null, null, false, null, null, null])).toEqual({
    facts: { membership: null, ownsSubject: false },
    grant: null,
    position: null,
  });
});

it('sets a nested member to null if its own first column is null', () => {
  const shape = rowShape(['item?.grant.grantId', 'item?.latest?.snapshotId']);
  expect(rowOf(shape, ['g-1', null])).toEqual({ item: { grant: { grantId: 'g-1' }, latest: null } });
  expect(rowOf(shape, [null, null])).toEqual({ item: null });
});

it('does not share objects between rows', () => {
  const shape = rowShape(NAMES);
  const [one, other] = [['a'], ['b']].map((values) => rowOf(shape, values));
  expect(one).not.toBe(other);
  expect(one?.['facts']).not.toBe(other?.['facts']);
});
