import { DomainError, type ErrorDetail, type JsonValue } from '@iss/domain';
import { alias, type Field, refused } from '../describe/field';
import {
  flag,
  integerFrom,
  line,
  oneOf,
  positive,
  principalId,
  prose,
  someProse,
  setOf,
  subjectId,
  tenantId,
  time,
  uuid,
  version,
} from './fields';
import { body, query } from './shape';

const problemOf = (field: Field<unknown, never, string | null, boolean>, value: JsonValue): string | null => {
  const [problem] = field.facts.problemsOf(value) ?? [];
  return problem === undefined ? null : `${problem.code} ${problem.message}`;
};

const GOOD: [string, Parameters<typeof problemOf>[0], JsonValue[]][] = [
  ['tenantId', tenantId, ['a', 'A.b_c-1', 'x'.repeat(128)]],
  ['principalId', principalId, ['oidc:dev#alice', `oidc:${'p'.repeat(255)}#${'𝄞'.repeat(255)}`]],
  ['subjectId', subjectId, ['a', 'Zürich / 𝄞', '𝄞'.repeat(512), '...', '.a', '..a']],
  ['uuid', uuid, ['5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10', '5B1F3F4E-1C5E-4A0E-9D0C-2F6F3F0F7A10']],
  ['time, which is parsed later', time, ['2026-01-15T09:30:00Z', 'soon']],
  ['nullable', time.nullable(), [null, '2026-01-15T09:30:00Z']],
  ['version', version, [1, 2_147_483_647]],
  ['flag', flag, [true, false]],
  ['oneOf', oneOf(['a', 'b']), ['a', 'b']],
  ['setOf', setOf(['a', 'b']), [['a'], ['b', 'a']]],
  ['line', line(3), ['a', '𝄞𝄞𝄞']],
  ['prose', prose(5), ['', 'a\n\tb']],
  ['someProse', someProse(5), ['a', ' a\n\tb']],
  ['integerFrom', integerFrom(0, 3), [0, 3]],
  ['positive', positive({ default: 1 }), ['1', '9999999999']],
];

const BAD: [string, Parameters<typeof problemOf>[0], JsonValue[], string][] = [
  [
    'tenantId',
    tenantId,
    ['', '.', '..', '-a', 'a b', 'x'.repeat(129), 'a\n'],
    'invalid_value must be 1-128 characters',
  ],
  ['tenantId of another type', tenantId, [7, null, ['a']], 'invalid_type must be a string'],
  ['principalId', principalId, ['bob', 'oidc:#a', 'oidc:a#\u0000'], 'invalid_value must be oidc:'],
  [
    'subjectId',
    subjectId,
    ['', 'a\n', '\u0085', 'x'.repeat(513), '.', '..'],
    'invalid_value must be 1 to 512 characters',
  ],
  ['uuid', uuid, ['7', 7, null], 'invalid_value must be a UUID'],
  ['version', version, [0, 2_147_483_648], 'invalid_value must be between'],
  ['version of another type', version, ['1', 1.5], 'invalid_type must be an integer'],
  ['flag', flag, ['true', null, 1], 'invalid_type must be true or false'],
  ['oneOf', oneOf(['a', 'b']), ['c', null, 1], 'invalid_value must be one of a, b'],
  ['setOf', setOf(['a', 'b']), [[], ['a', 'a'], ['c'], 'a', null, { 0: 'a' }], 'invalid_value must be a non-empty'],
  ['line', line(3), ['', 'abcd', 'a\nb'], 'invalid_value must be 1 to 3 characters'],
  ['prose', prose(3), ['abcd', 'a\u0000'], 'invalid_value must be at most 3 characters'],
  [
    'someProse',
    someProse(3),
    ['', ' ', '\n\t', 'abcd', 'a\u0000'],
    'invalid_value must be 1 to 3 characters, not blank',
  ],
  ['integerFrom', integerFrom(0, 3), [-1, 4], 'invalid_value must be from 0 to 3'],
  ['positive', positive({ default: 1 }), ['0', '01', '1.0', '-1', '', 1], 'invalid_value must be an integer >= 1'],
];

describe('fields', () => {
  it.each(GOOD)('%s accepts valid values', (_, field, values) => {
    for (const value of values) expect(problemOf(field, value)).toBeNull();
  });

  it.each(BAD)('%s refuses invalid values with a message', (_, field, values, problem) => {
    for (const value of values) expect(problemOf(field, value)).toContain(problem);
  });
});

const Order = body(
  'OrderBody',
  {
    item_id: uuid,
    item: alias('item_id'),
    amount: integerFrom(1, 9).optional(),
    note: line(10).nullable().optional(),
    price: refused('is set by the server'),
  },
  {},
);
const ID = '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10';

function detailsOf(act: () => unknown): readonly ErrorDetail[] {
  try {
    act();
  } catch (error) {
    if (error instanceof DomainError && error.code === 'validation_error') return error.details ?? [];
    throw error;
  }
  throw new Error('nothing was wrong');
}

describe('Shape', () => {
  it('returns the sent object itself, with an alias copied to its primary name', () => {
    const sent = { item: ID, note: null };
    expect(Order.require(sent)).toBe(sent);
    expect(sent).toStrictEqual({ item: ID, note: null, item_id: ID });
    expect(Order.require({ item_id: ID, item: ID, amount: 9 }).amount).toBe(9);
  });

  it('treats null as absent if null is not a value, also for aliases', () => {
    const { item_id, amount, note } = Order.require({ item_id: null, item: ID, amount: null, note: null });
    expect([item_id, amount, note]).toEqual([ID, undefined, null]);
    expect(Order.require({ item_id: ID, item: null }).item_id).toBe(ID);
  });

  it.each<[string, JsonValue, string[]]>([
    ['an empty object', {}, ['/item_id required']],
    ['an array', [], [' invalid_type']],
    ['several faults', { item_id: 'x', amount: 0 }, ['/item_id invalid_value', '/amount invalid_value']],
    ['a fault under an alias', { item: 'x' }, ['/item invalid_value']],
    ['null for a required field', { item_id: null }, ['/item_id required']],
    ['null under both names', { item_id: null, item: null }, ['/item_id required']],
    ['null for a field that the server sets', { item_id: ID, price: null }, ['/price invalid_value']],
    ['an unknown field', { item_id: ID, 'a/b': 1 }, ['/a~1b unknown_field']],
    ['a field that the server sets', { item_id: ID, price: 1 }, ['/price invalid_value']],
    ['an alias with another value', { item_id: ID, item: ID.replace('5', '6') }, ['/item mismatch']],
  ])('refuses %s', (_, sent, places) => {
    const details = detailsOf(() => Order.require(sent));
    expect(details.map(({ path, code }) => `${path} ${code}`)).toEqual(places);
  });

  it('removes null from optional fields that cannot be null', () => {
    const sent = { item_id: null, item: ID, amount: null, note: null };
    expect(Order.require(sent)).toStrictEqual({ item: ID, item_id: ID, note: null });
    expect(Order.require({ item_id: ID, item: null })).toStrictEqual({ item_id: ID });
    const Note = body('NoteBody', { text: line(9).nullable().optional(), note: alias('text') }, {});
    expect(Note.require({ text: 'a', note: null })).toStrictEqual({ text: 'a', note: null });
    expect(Note.require({ text: null, note: 'a' })).toStrictEqual({ text: 'a', note: 'a' });
    expect(Note.require({ note: null })).toStrictEqual({ text: null, note: null });
  });

  it('lists the allowed fields when it refuses an unknown one', () => {
    const [first] = detailsOf(() => Order.require({ item_id: ID, colour: 1 }));
    expect(first?.message).toBe('Unknown field `colour`. Allowed are item_id, item, amount, note.');
    const [none] = detailsOf(() => query({}).require({ colour: '1' }, ['query']));
    expect(none).toMatchObject({
      path: '/query/colour',
      message: 'Unknown query parameter `colour`. This route takes none.',
    });
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`x${at}`, 1]));
    expect(detailsOf(() => Order.require({ ...many, item_id: ID }))).toHaveLength(100);
  });

  it.each([...Object.getOwnPropertyNames(Object.prototype), 'prototype', 'length', 'toJSON'])(
    'refuses %s as any other unknown field',
    (name) => {
      const sent: unknown = JSON.parse(`{"item_id":"${ID}",${JSON.stringify(name)}:null}`);
      expect(detailsOf(() => Order.require(sent))).toMatchObject([{ path: `/${name}`, code: 'unknown_field' }]);
    },
  );

  it('reads only own members, even those named __proto__ or constructor', () => {
    const inherited: unknown = Object.create({ item_id: ID });
    expect(detailsOf(() => Order.require(inherited)).map(({ path }) => path)).toEqual(['/item_id']);
    const hostile: unknown = JSON.parse(`{"item_id":"${ID}","__proto__":{},"constructor":1}`);
    const details = detailsOf(() => Order.require(hostile));
    expect(details.map(({ path, code }) => `${path} ${code}`)).toEqual([
      '/__proto__ unknown_field',
      '/constructor unknown_field',
    ]);
  });

  it('reports paths below the given prefix', () => {
    const Page = query({ view: oneOf(['full', 'header']).optional() });
    const details = detailsOf(() => Page.require({ view: 'x', vew: 'full' }, ['query']));
    expect(details.map(({ path }) => path)).toEqual(['/query/vew', '/query/view']);
  });

  it('has a schema of what it accepts', () => {
    const id = { type: 'string', format: 'uuid' };
    expect(Order.schema).toStrictEqual({
      title: 'OrderBody',
      additionalProperties: false,
      type: 'object',
      properties: {
        item_id: { ...id, type: ['string', 'null'] },
        item: { ...id, type: ['string', 'null'], deprecated: true, description: 'Alias of item_id.' },
        amount: { type: ['integer', 'null'], minimum: 1, maximum: 9 },
        note: {
          type: ['string', 'null'],
          minLength: 1,
          maxLength: 10,
          pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
        },
      },
      anyOf: ['item_id', 'item'].map((name) => ({
        properties: { [name]: { type: 'string', description: 'item_id, under one of its names.' } },
        required: [name],
      })),
    });
  });
});
