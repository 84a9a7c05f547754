import { MAX_PROBLEMS } from '../limits';
import { arrayOf, enumOf, mapOf, orNull, rule, type Schema, textThat } from './check';

test.each<[string, Schema, Schema]>([
  ['a type', { type: 'string', minLength: 1 }, { type: ['string', 'null'], minLength: 1 }],
  ['an enumeration', { type: 'string', enum: ['a'] }, { type: ['string', 'null'], enum: ['a', null] }],
  ['a nullable type', { type: ['string', 'null'] }, { type: ['string', 'null'] }],
  ['several types', { type: ['string', 'number'] }, { anyOf: [{ type: ['string', 'number'] }, { type: 'null' }] }],
  ['a constant', { type: 'string', const: 'a' }, { anyOf: [{ type: 'string', const: 'a' }, { type: 'null' }] }],
  ['a named schema', { type: 'object', title: 'A' }, { anyOf: [{ type: 'object', title: 'A' }, { type: 'null' }] }],
  ['a oneOf', { oneOf: [{ type: 'string' }] }, { anyOf: [{ oneOf: [{ type: 'string' }] }, { type: 'null' }] }],
  ['an allOf', { allOf: [{ type: 'string' }] }, { anyOf: [{ allOf: [{ type: 'string' }] }, { type: 'null' }] }],
  ['an anyOf', { anyOf: [{ type: 'string' }] }, { anyOf: [{ anyOf: [{ type: 'string' }] }, { type: 'null' }] }],
  ['an empty schema', {}, {}],
])('orNull makes %s nullable', (_, schema, expected) => {
  expect(orNull(schema)).toEqual(expected);
});

const anyKey = textThat({}, 'never', 'is never wrong', () => true);
const never = rule<never>({}, 'always', 'is always wrong', () => false);

test.each([MAX_PROBLEMS - 1, MAX_PROBLEMS, MAX_PROBLEMS + 1, 10 * MAX_PROBLEMS])(
  'problemsOf returns the first of %i problems in order, up to the limit',
  (length) => {
    const keys = Array.from({ length }, (_, at) => `k${at}`);
    const named = Math.min(length, MAX_PROBLEMS);
    const ofItems = arrayOf(never).problemsOf(keys);
    expect(ofItems?.map(({ path }) => path)).toEqual(keys.slice(0, named).map((_, at) => `/${at}`));
    const ofMembers = mapOf(anyKey, never).problemsOf(Object.fromEntries(keys.map((key) => [key, 1])));
    expect(ofMembers?.map(({ path }) => path)).toEqual(keys.slice(0, named).map((key) => `/${key}`));
  },
);

test('enumOf names its options in a problem', () => {
  expect(enumOf(['a', 'b']).problemsOf('c')).toMatchObject([{ path: '', message: expect.stringContaining('b') }]);
  expect(enumOf(['a', 'b']).problemsOf('b')).toBeNull();
});
