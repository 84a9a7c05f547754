import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { arrayParameter, type ElementType } from './array-parameter';
import { statement } from './statement';
import { openWorld, type World } from '../testing/world';

const echoStatement = (type: ElementType, shown: string = type) =>
  statement<{ values: readonly unknown[] }, { value: unknown }>(
    `spec_echo_${type}`,
    `SELECT unnest(:values::${type}[])::${shown} AS value`,
  );
const ECHO = {
  bigint: echoStatement('bigint', 'float8'),
  boolean: echoStatement('boolean'),
  bytea: echoStatement('bytea'),
  int: echoStatement('int'),
  text: echoStatement('text'),
  uuid: echoStatement('uuid'),
} as const satisfies Record<ElementType, unknown>;

let world: World;

beforeAll(async () => {
  world = await openWorld();
});

afterAll(() => world?.close());

async function echo(type: ElementType, values: readonly unknown[]): Promise<unknown[]> {
  const rows = await world.database.sql.run(ECHO[type], { values });
  return rows.map(({ value }) => value);
}

it.each<[ElementType, unknown[]]>([
  ['bigint', [0, -1, 2 ** 53 - 1, -(2 ** 53) + 1, null]],
  ['boolean', [true, null, false]],
  ['bytea', [Buffer.from([0, 0xff, 0x5c]), null, Buffer.alloc(0)]],
  ['int', [0, -1, 2 ** 31 - 1, -(2 ** 31), null]],
  ['text', ['', 'a', 'NULL', '"\\{},', 'Zürich', '日本', '😀', null, '\n']],
  ['uuid', [randomUUID(), null, '00000000-0000-0000-0000-000000000000']],
  ['text', []],
])('sends values of type %s unchanged: %j', async (type, values) => {
  expect(await echo(type, values)).toEqual(values);
});

it('sends any text without NUL', async () => {
  const text = fc
    .string({ unit: 'grapheme' })
    .filter((value) => !value.includes('\0') && Buffer.from(value).toString() === value);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(text)), async (values) => {
      expect(await echo('text', values)).toEqual(values);
    }),
    { numRuns: 50 },
  );
});

it('sends a uuid in any notation', async () => {
  const uuid = 'abcdef01-2345-6789-abcd-ef0123456789';
  expect(await echo('uuid', [uuid.toUpperCase(), uuid.replaceAll('-', '')])).toEqual([uuid, uuid]);
});

it('sends undefined as null', async () => {
  expect(await echo('text', ['a', undefined])).toEqual(['a', null]);
});

it.each<[ElementType, unknown]>([
  ['boolean', 'true'],
  ['bytea', '\\x00'],
  ['int', '1'],
  ['int', 2 ** 31],
  ['text', 1],
  ['uuid', 'no uuid'],
  ['uuid', '0'.repeat(31)],
  ['uuid', '0'.repeat(33)],
  ['uuid', `${'0'.repeat(31)}g`],
  ['uuid', `${'0'.repeat(31)}é`],
])('refuses a value that is not a %s: %j', (type, value) => {
  expect(() => arrayParameter(type, [value])).toThrow();
});
