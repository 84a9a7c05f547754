import { meaningsOf } from './find.ts';

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
      ['identifier', { identifier: 'lei:529900T8BM49AURSDO55' }],
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
])('%.20s may mean', (find, expected) => {
  expect(meaningsOf(find).map(({ kind, query }) => [kind, query])).toEqual(expected);
});
