import { isRecordId, meaningsOf } from './meanings.ts';

it.each([
  [
    'Acme',
    [
      ['name', { q: 'Acme' }],
      ['id', { subject_id_prefix: 'Acme' }],
    ],
  ],
  [
    'lei:5299',
    [
      ['identifier', { identifier: 'lei:5299' }],
      ['id', { subject_id_prefix: 'lei:5299' }],
    ],
  ],
  [
    '529900T8BM49AURSDO55',
    [
      ['identifier', { identifier: '529900T8BM49AURSDO55' }],
      ['id', { subject_id_prefix: '529900T8BM49AURSDO55' }],
    ],
  ],
  [
    'lei:',
    [
      ['name', { q: 'lei:' }],
      ['id', { subject_id_prefix: 'lei:' }],
    ],
  ],
  [
    ':a',
    [
      ['name', { q: ':a' }],
      ['id', { subject_id_prefix: ':a' }],
    ],
  ],
  [
    'a b:c',
    [
      ['name', { q: 'a b:c' }],
      ['id', { subject_id_prefix: 'a b:c' }],
    ],
  ],
  [
    'n'.repeat(128),
    [
      ['name', { q: 'n'.repeat(128) }],
      ['id', { subject_id_prefix: 'n'.repeat(128) }],
    ],
  ],
  ['n'.repeat(129), [['id', { subject_id_prefix: 'n'.repeat(129) }]]],
  ['n'.repeat(513), []],
  [`lei:${'n'.repeat(600)}`, [['identifier', { identifier: `lei:${'n'.repeat(508)}` }]]],
])('meaningsOf returns the possible queries of a text: case %#', (find, expected) => {
  expect(meaningsOf(find).map(({ kind, query }) => [kind, query])).toEqual(expected);
});

it.each([
  ['7654321', true],
  ['CHE-116.281.710', true],
  ['HRB 12345', true],
  ['Acme', false],
  ['Route 66', false],
  ['529900T8BM49AURSDO55', true],
  ['lei:5299', true],
  ['0e4d2f4c-6e0b-4c59-9a53-1b1b8d6cf4b2', false],
])('meaningsOf(%s) contains an identifier: %s', (find, expected) => {
  expect(meaningsOf(find).some(({ kind }) => kind === 'identifier')).toBe(expected);
});

it.each([
  ['0e4d2f4c-6e0b-4c59-9a53-1b1b8d6cf4b2', true],
  ['0E4D2F4C-6E0B-4C59-9A53-1B1B8D6CF4B2', true],
  ['0e4d2f4c6e0b4c599a531b1b8d6cf4b2', false],
])('isRecordId(%s) is %s', (find, expected) => {
  expect(isRecordId(find)).toBe(expected);
});
