import { deepStrictEqual } from 'node:assert';
import * as fc from 'fast-check';
import { DomainError, type ErrorDetail } from '../errors';
import { HAZARD_KEYS, anyKey, jsonValues } from '../testing/json-values';
import { canonicalize } from './canonicalize';
import { parseJson, parseJsonText, parseStoredJson } from './parse';
import type { JsonValue } from './value';
import { runs } from '../../../../tools/testing/runs';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const parseText = (text: string): JsonValue => parseJson(utf8(text));
const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

function faultOf(body: string | Uint8Array, limits?: { maxDepth: number }): ErrorDetail {
  try {
    parseJson(typeof body === 'string' ? utf8(body) : body, limits);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    expect(error.code).toBe('validation_error');
    expect(error.details).toHaveLength(1);
    const detail = error.details?.[0];
    if (detail) return detail;
  }
  throw new Error('was accepted');
}

describe('parseJson with valid text', () => {
  test.each([
    '0', '""', 'null', ' true ', '\t[\n1 ,\r2 ]', '{}', '[]', '[[],{}]', '{"a":{"b":[1,{"c":null}]}}',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\u0000\\u00e9\\u20AC"', '"\\ud83d\\ude02"', '{"\\u0061":1}', '"\u2028\u2029\u007f"', '"\ufeff"',
  ])('returns what JSON.parse returns for %j', (text) => deepStrictEqual(parseText(text), JSON.parse(text))); // prettier-ignore

  test('stores hazardous keys as own members of ordinary objects', () => {
    const expected = Object.fromEntries(HAZARD_KEYS.map((key, index) => [key, { n: index }]));
    const value = parseText(JSON.stringify(expected));
    deepStrictEqual(value, expected);
    expect(Object.keys(value as object).sort()).toEqual([...HAZARD_KEYS].sort());
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(({} as { n?: unknown }).n).toBeUndefined();
  });

  test.each([
    ['\\', '"\\n"', '\n'],
    ['\\', '"\\""', '"'],
    ['\\', '"\\u0000"', '\u0000'],
    ['a\\', '"a\\n"', 'a\n'],
    ['\\u00', '"\\u0041bcd"', 'Abcd'],
  ])('after the key %j, reads the escaped key %s correctly (nodejs/node#63785)', (earlier, escaped, key) => {
    // Native parsing confuses the escaped key with a key of an earlier object that had the same first keys.
    const first = `before ${escaped} comes ${earlier}`;
    JSON.parse(JSON.stringify({ [first]: 0, [earlier]: 1 }));
    const body = `{${JSON.stringify(first)}:0,${escaped}:1}`;
    deepStrictEqual(parseText(body), { [first]: 0, [key]: 1 });
  });

  test('distinguishes composed and decomposed keys', () => {
    expect(Object.keys(parseText('{"é":1,"e\u0301":2}') as object)).toHaveLength(2);
  });

  test('returns any JSON value unchanged', () => {
    fc.assert(
      fc.property(jsonValues(anyKey), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        deepStrictEqual(parseText(JSON.stringify(value, null, space)), value);
      }),
      { numRuns: runs(1000) },
    );
  });

  test('accepts 100,000 keys and a string of 5 MB', () => {
    const object = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key ${index}`, index]));
    deepStrictEqual(parseText(JSON.stringify(object)), object);
    const long = 'é"\\'.repeat(1_250_000);
    expect(parseText(JSON.stringify(long))).toBe(long);
  });
});

describe('parseJson with any text', () => {
  // No token ends in an escaped backslash, because with such keys the oracle misreads others (nodejs/node#63785).
  const token = fc.constantFrom(
    '{', '}', '[', ']', ',', ':', '"', '"a"', '"b"', '"\\u0061"', '"\\ud800"', '"\\n"', '"\\x"', '"\\', '0', '1', '-', '.', 'e', 'E', '+', '01', '9007199254740993',
    'true', 'false', 'null', 'nul', ' ', '\n', '\u0001', '\u00a0', '\ufeff', "'", '{"a":', '{"a":1,"a":', '[1,', '-0', '1e400', '/', 'é',
  ); // prettier-ignore

  test('agrees with JSON.parse, except for its stricter rules', () => {
    const outcomes = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(fc.array(token, { maxLength: 9 }), (tokens) => {
        const text = tokens.join('');
        let expected: unknown;
        try {
          expected = JSON.parse(text, (_key, value: unknown) => (value === 0 ? 0 : value));
        } catch {
          expect([
            'invalid_json',
            'empty_body',
            'byte_order_mark',
            'duplicate_key',
            'lone_surrogate',
            'number_not_carried',
          ]).toContain(faultOf(text).code);
          outcomes.refused++;
          return;
        }
        try {
          deepStrictEqual(parseText(text), expected);
          outcomes.accepted++;
        } catch (error) {
          if (!(error instanceof DomainError)) throw error;
          expect(['duplicate_key', 'lone_surrogate', 'number_not_carried']).toContain(error.details?.[0]?.code);
        }
      }),
      { numRuns: runs(20_000) },
    );
    expect(outcomes.accepted).toBeGreaterThan(runs(200));
    expect(outcomes.refused).toBeGreaterThan(runs(200));
  });
});

describe('parseJson with numbers', () => {
  test.each([
    ['0', 0], ['-0', 0], ['-0.0', 0], ['-0e5', 0], ['0e-999', 0], ['0.000e99999999999999999999', 0], ['1.0', 1], ['1e3', 1000], ['1E+3', 1000], ['-1.5', -1.5], ['0.1', 0.1],
    ['9007199254740991', 9007199254740991], ['9007199254740992', 9007199254740992], ['9007199254740994', 9007199254740994], ['-9007199254740994', -9007199254740994],
    ['100000000000000000000', 1e20], ['1e21', 1e21], ['1e23', 1e23], ['1E30', 1e30], ['1.7976931348623157e308', Number.MAX_VALUE],
    ['333333333.33333329', 333333333.3333333], ['0.30000000000000004', 0.30000000000000004], ['0.000000000000000000000000001', 1e-27],
    ['5e-324', 5e-324], ['4.9406564584124654e-324', 5e-324], ['2.2250738585072014e-308', 2.2250738585072014e-308],
    ['18446744073709551616', 2 ** 64], ['18446744073709552000', 2 ** 64], ['123456789012345680000', 123456789012345680000],
    [`1.${'0'.repeat(1000)}`, 1], [`0.1${'0'.repeat(1000)}`, 0.1], [`0.${'0'.repeat(999)}1e1000`, 1], [`1${'0'.repeat(300)}`, 1e300], [`1${'0'.repeat(1000)}e-1000`, 1],
    ['1e-0000000000000000000000001', 0.1],
  ])('accepts %s without loss', (text, value) => expect(parseText(text)).toBe(value)); // prettier-ignore

  test.each([
    '9007199254740993', '-9007199254740993', '9007199254740993.0', '900719925474099.3e1', '12345678901234567', '123456789012345678901', '100000000000000000001', '18446744073709551615',
    '1e309', '-1e309', '1e400', '1.7976931348623159e308', `1${'0'.repeat(400)}`, '1e99999999999999999999', '1E-400', '-1e-400', '2e-324', '1e-99999999999999999999', `0.${'0'.repeat(400)}1`,
    '0.123456789012345678', '1.00000000000000000001', '3.14159265358979323846', '0.1000000000000000055511151231257827',
  ])('refuses %s, which a double cannot hold', (text) => expect(faultOf(`{"a":[true,${text}]}`)).toMatchObject({ path: '/a/1', code: 'number_not_carried' })); // prettier-ignore

  test('accepts an integer exactly if its double or RFC 8785 text equals it', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
          fc.bigInt({ min: 2n ** 53n - 100n, max: 2n ** 53n + 100n }),
        ),
        (integer) => {
          const value = Number(integer);
          const carried = BigInt(value) === integer || (Math.abs(value) < 1e21 && String(value) === String(integer));
          if (carried) expect(parseText(String(integer))).toBe(value);
          else expect(faultOf(String(integer)).code).toBe('number_not_carried');
        },
      ),
      { numRuns: runs(1000) },
    );
  });

  test.each([
    '01',
    '-01',
    '+1',
    '.5',
    '5.',
    '1.e5',
    '-',
    '1e',
    '1e+',
    '0x10',
    '1_000',
    'NaN',
    'Infinity',
    '-Infinity',
    '00',
    '--1',
    '1.2.3',
  ])('refuses %s as invalid JSON', (text) => expect(faultOf(`[${text}]`).code).toBe('invalid_json'));
});

describe('parseJson with invalid text', () => {
  test.each<[string, string | Uint8Array, string, string]>([
    ['an empty body', '', 'empty_body', ''],
    ['a body of spaces', ' \n\t', 'empty_body', ''],
    ['byte order mark', '\ufeff{}', 'byte_order_mark', ''],
    ['trailing text', '{"a":1} x', 'invalid_json', ''],
    ['two documents', '{}{}', 'invalid_json', ''],
    ['missing value', '{"a":{"b":}}', 'invalid_json', '/a/b'],
    ['missing comma', '{"a":[1 2]}', 'invalid_json', '/a'],
    ['trailing comma in an array', '{"a":[1,]}', 'invalid_json', '/a/1'],
    ['trailing comma in an object', '{"a":{"b":1,}}', 'invalid_json', '/a'],
    ['key without quotes', '{"a":{b:1}}', 'invalid_json', '/a'],
    ['a body that is cut off', '{"a":[0,{"b":"c', 'invalid_json', '/a/1/b'],
    ['control character', '{"a":"b\nc"}', 'invalid_json', '/a'],
    ['unknown escape', '{"a":"\\x"}', 'invalid_json', '/a'],
    ['short escape', '{"a":"\\u12g4"}', 'invalid_json', '/a'],
    ['NUL between tokens', '{"a":1\u0000}', 'invalid_json', ''],
    ['no-break space between tokens', '{"a":\u00a01}', 'invalid_json', '/a'],
    ['comment', '{"a":1 /* b */}', 'invalid_json', ''],
    ['duplicate key', '{"a":{"b":1,"c":2,"b":1}}', 'duplicate_key', '/a/b'],
    ['duplicate escaped key', '{"a":{"b":1,"\\u0062":2}}', 'duplicate_key', '/a/b'],
    ['duplicate __proto__', '{"__proto__":1,"__proto__":2}', 'duplicate_key', '/__proto__'],
    ['duplicate empty key', '{"x/y":[{"":1,"":2}]}', 'duplicate_key', '/x~1y/0/'],
    ['lone high surrogate', '{"a":["b","\\ud800"]}', 'lone_surrogate', '/a/1'],
    ['lone low surrogate', '{"a":"x\\uDC00y"}', 'lone_surrogate', '/a'],
    ['surrogates in the wrong order', '{"a":"\\ude02\\ud83d"}', 'lone_surrogate', '/a'],
    ['lone surrogate in a key', '{"a":{"\\ud800":1}}', 'lone_surrogate', '/a'],
    ['raw surrogate (CESU-8)', bytes('{"a":["', [0xed, 0xa0, 0x80], '"]}'), 'invalid_utf8', '/a/0'],
    ['overlong slash', bytes('{"a":1,"b":"', [0xc0, 0xaf], '"}'), 'invalid_utf8', '/b'],
    ['overlong NUL in a key', bytes('{"a":{"', [0xc0, 0x80], '":1}}'), 'invalid_utf8', '/a'],
    ['stray continuation byte', bytes('{"é":{"�":"', [0x80], '"}}'), 'invalid_utf8', '/é/�'],
    ['above U+10FFFF', bytes('["', [0xf4, 0x90, 0x80, 0x80], '"]'), 'invalid_utf8', '/0'],
    ['cut within a character', bytes('["a', [0xe2, 0x82]), 'invalid_utf8', '/0'],
    ['UTF-16', bytes([0xff, 0xfe, 0x7b, 0, 0x7d, 0]), 'invalid_utf8', ''],
    ['Latin-1 after the document', bytes('{}', [0xe9]), 'invalid_utf8', ''],
  ])('names the place of %s', (_name, body, code, path) => expect(faultOf(body)).toMatchObject({ code, path }));

  test('names the character or byte in the message', () => {
    expect(faultOf('{"é":1,x').message).toBe('Expected a key in double quotes, found "x" (character 7).');
    expect(faultOf('[1').message).toBe('Expected "," or "]", found the end of the body (character 2).');
    expect(faultOf(bytes('["é', [0xff], '"]')).message).toBe('The body is not valid UTF-8 at byte 4.');
  });
});

test('parseJsonText accepts text and a depth limit', () => {
  expect(parseJsonText('{"é":[1]}')).toEqual({ é: [1] });
  expect(() => parseJsonText('[[1]]', { maxDepth: 1 })).toThrow(DomainError);
});

describe('parseStoredJson', () => {
  test('returns the original value of any canonical text', () => {
    fc.assert(fc.property(jsonValues(anyKey), (value) => deepStrictEqual(parseStoredJson(canonicalize(value)), value)));
  });

  test('does not confuse an escaped key with another one (nodejs/node#63785)', () => {
    JSON.parse('{"stored":[],"\\\\":0}');
    deepStrictEqual(parseStoredJson('{"stored":1,"\\n":2}'), { stored: 1, '\n': 2 });
  });

  test.each(['1', '"\\n"', '{"2":1,"10":2}'])(
    'reads up to 20,000 levels around %s, and canonicalize returns the same text',
    (leaf) => {
      for (const depth of [1_220, 20_000]) {
        const text = '[{"a":'.repeat(depth) + leaf.replace('"2":1,"10":2', '"10":2,"2":1') + '}]'.repeat(depth);
        expect(canonicalize(parseStoredJson(text)) === text).toBe(true);
      }
    },
  );

  test('reads 512 levels, and refuses text that is cut off', () => {
    deepStrictEqual(parseStoredJson('['.repeat(512) + ']'.repeat(512)), JSON.parse('['.repeat(512) + ']'.repeat(512)));
    expect(() => parseStoredJson('{"a":[1,')).toThrow(DomainError);
    expect(() => parseStoredJson('')).toThrow(DomainError);
  });
});

test('parseJson cuts the path of a fault below a long key', () => {
  const { path } = faultOf(`{"${'k'.repeat(100_000)}":tru}`);
  expect(path).toBe(`/${'k'.repeat(254)}…`);
});

test('parseJsonText needs no extra memory for integer keys', () => {
  const count = 20_000;
  const text = ` [${'{"1000":0},'.repeat(count)}0]`;
  const before = process.memoryUsage().heapUsed;
  const value = parseJsonText(text);
  // Space for the preceding elements would be 240 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(120_000_000);
  expect(value).toHaveLength(count + 1);
  deepStrictEqual(parseJsonText(' {"12":1,"5":2,"4294967294":3,"007":4,"99999999999":5,"0":{"70":6}}'), {
    '12': 1, '5': 2, '4294967294': 3, '007': 4, '99999999999': 5, '0': { '70': 6 },
  }); // prettier-ignore
});

describe('the depth limit of parseJson', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

  test('accepts 64 levels and refuses 65', () => {
    deepStrictEqual(parseText(nested(64)), JSON.parse(nested(64)));
    expect(faultOf(nested(65))).toMatchObject({ code: 'too_deep', path: '/0'.repeat(64) });
    expect(faultOf('{"a":'.repeat(65))).toMatchObject({ code: 'too_deep', path: '/a'.repeat(64) });
  });

  test('counts neither scalars nor siblings', () => {
    expect(parseJson(utf8('[1,[2],[3]]'), { maxDepth: 2 })).toEqual([1, [2], [3]]);
    expect(faultOf('[1,[2,{}]]', { maxDepth: 2 })).toMatchObject({ code: 'too_deep', path: '/1/1' });
  });

  test('refuses 10,000 and 1,000,000 levels', () => {
    expect(faultOf(nested(10_000)).code).toBe('too_deep');
    expect(faultOf('['.repeat(1_000_000)).code).toBe('too_deep');
    expect(faultOf('{"a":'.repeat(10_000)).code).toBe('too_deep');
  });
});

describe('the fast path of parseJsonText', () => {
  // A leading space makes the library's own parser read the text.
  const outcome = (text: string): unknown => {
    try {
      return parseJsonText(text);
    } catch (error) {
      return error instanceof DomainError ? error.details?.map(({ path, code }) => `${path} ${code}`) : error;
    }
  };

  test('returns what the parser returns for any value', () => {
    fc.assert(
      fc.property(jsonValues(anyKey), (value) => {
        const text = JSON.stringify(value);
        deepStrictEqual(outcome(text), outcome(` ${text}`));
      }),
    );
  });

  test.each([
    '{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"__proto__":{"x":1},"__proto__":2}', '[9007199254740993]', '[9007199254740992]', '[1e400]',
    '[1e-400]', '[-0]', '[1.0]', '[1e2]', '[0.1]', '[123456789012345680000]', '[333333333.33333329]', '"\\ud800"', '"\\udc00\\ud800"',
    '{"\\ud800":1}', '"\\uD83D\\uDE02"', '{"2":1,"1":2}', '{"b":1,"a":2}', '[1,]', '{"a":1', '', '{"\\\\":1}', '{"\\n":1}',
    '['.repeat(64) + ']'.repeat(64), '['.repeat(65) + ']'.repeat(65), '['.repeat(100_000),
  ])('returns what the parser returns for %j', (text) => deepStrictEqual(outcome(text), outcome(` ${text}`))); // prettier-ignore
});
