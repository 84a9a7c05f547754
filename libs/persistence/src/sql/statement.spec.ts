import { arrayParameter } from './array-parameter';
import { declaredStatements, statement, valuesOf } from './statement';

it('numbers each name once without changing casts, literals, quoted names or slices', () => {
  const query = statement<{ tenantId: string; from: Date | null }, { 'a:b': string }>(
    'spec_names',
    `SELECT x::text AS "a:b", 'at :tenantId ''n'' HH24:MI', list[1:2], list[lo:hi] FROM t
 WHERE a = :tenantId AND b > coalesce(:from::timestamptz, '-infinity') AND (:tenantId)::text = c`,
  );
  expect(query.text).toBe(
    `SELECT x::text AS "a:b", 'at :tenantId ''n'' HH24:MI', list[1:2], list[lo:hi] FROM t
 WHERE a = $1 AND b > coalesce($2::timestamptz, '-infinity') AND ($1)::text = c`,
  );
  const from = new Date(0);
  expect(valuesOf(query, { tenantId: 'acme', from })).toEqual(['acme', from]);
  expect(valuesOf(query, { from: null, tenantId: 'acme' })).toEqual(['acme', null]);
});

it('sends lists of values and of members in binary', () => {
  const query = statement<{
    inputs: readonly { id: string; size: number | undefined }[];
    roles: readonly string[] | null;
    days: readonly number[];
  }>(
    'spec_lists',
    `SELECT (:inputs.id::text[])[ord] FROM unnest(:inputs.id::text[], :inputs.size::int[]) WITH ORDINALITY AS i(id, size, ord)
      WHERE role = ANY (:roles::text[]) AND day = ANY (:days::date[])`,
  );
  expect(query.text).toMatch(/^SELECT \(\$1::text\[\]\)\[ord\] FROM unnest\(\$1::text\[\], \$2::int\[\]\)/);
  const inputs = [
    { id: 'a', size: 1 },
    { id: 'b', size: undefined },
  ];
  expect(valuesOf(query, { inputs, roles: null, days: [1] })).toEqual([
    arrayParameter('text', ['a', 'b']),
    arrayParameter('int', [1, null]),
    null,
    [1],
  ]);
});

it('refuses a missing argument in TypeScript and at run time', () => {
  const query = statement<{ tenantId: string; name: string | undefined }>('spec_given', 'SELECT :tenantId, :name');
  expect(valuesOf(query, { tenantId: 'acme', name: undefined })).toEqual(['acme', undefined]);
  // @ts-expect-error name is missing
  expect(() => valuesOf(query, { tenantId: 'acme' })).toThrow('spec_given is not given :name');
  // @ts-expect-error nothing is called slug
  expect(valuesOf(query, { tenantId: 'acme', name: 'a', slug: 'b' })).toEqual(['acme', 'a']);
  const list = statement<{ inputs: readonly { id?: string }[] }>('spec_list', 'SELECT :inputs.id::text[]');
  expect(() => valuesOf(list, { inputs: [{}] })).toThrow('spec_list is not given :id');
});

it('refuses numbered parameters, arrays of unknown types, and different statements with one name', () => {
  expect(() => statement('spec_number', 'SELECT $1')).toThrow(/Give it a name/);
  expect(() => statement('spec_untyped', 'SELECT unnest(:inputs.id)')).toThrow(/what array :inputs.id is/);
  statement('spec_twice', 'SELECT 1');
  expect(() => statement('spec_twice', 'SELECT 2')).toThrow(/Two statements/);
  expect(() => statement('spec_twice', 'SELECT 1')).not.toThrow();
  expect(declaredStatements().get('spec_twice')?.text).toBe('SELECT 1');
});
