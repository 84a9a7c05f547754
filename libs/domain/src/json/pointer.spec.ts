import * as fc from 'fast-check';
import { DomainError } from '../errors';
import { HAZARD_KEYS, anyKey } from '../testing/json-values';
import { formatPointer, getAt, isPointer, parsePointer, setMember, shortPointer } from './pointer';
import type { JsonObject } from './value';

describe('parsePointer', () => {
  test.each([
    ['', []],
    ['/', ['']],
    ['/foo/0', ['foo', '0']],
    ['/a~1b', ['a/b']],
    ['/m~0n', ['m~n']],
    ['/~01', ['~1']],
    ['//', ['', '']],
    ['/ ', [' ']],
    ['/c%d', ['c%d']],
    ['/__proto__/x', ['__proto__', 'x']],
  ])('parses %j', (text, tokens) => {
    expect(parsePointer(text)).toEqual(tokens);
    expect(isPointer(text)).toBe(true);
  });

  test.each(['a', 'a/b', '#/a', ' /a', '/~', '/~2', '/a~', '/a~/b', '~0'])('refuses %j', (text) => {
    expect(isPointer(text)).toBe(false);
    expect(() => parsePointer(text)).toThrow(DomainError);
  });

  test('reverses formatPointer', () => {
    fc.assert(fc.property(fc.array(anyKey), (tokens) => expect(parsePointer(formatPointer(tokens))).toEqual(tokens)));
  });

  test('accepts a pointer as long as a body', () => {
    expect(parsePointer('/a~1'.repeat(300_000))).toHaveLength(300_000);
  });
});

test.each([
  ['/a'.repeat(128), '/a'.repeat(128)],
  ['/a'.repeat(129), '/a'.repeat(127) + '/…'],
  [`/${'a'.repeat(253)}😂b`, `/${'a'.repeat(253)}…`],
])('shortPointer cuts a pointer beyond 256 characters: case %#', (pointer, short) => {
  expect(shortPointer(pointer)).toBe(short);
});

test('formatPointer escapes names and accepts indexes', () => {
  expect(formatPointer(['a/b', 'm~n', 0, '', '~1'])).toBe('/a~1b/m~0n/0//~01');
  expect(formatPointer([])).toBe('');
});

describe('getAt', () => {
  // RFC 6901 section 5
  const document = {
    foo: ['bar', 'baz'],
    '': 0,
    'a/b': 1,
    'c%d': 2,
    'e^f': 3,
    'g|h': 4,
    'i\\j': 5,
    'k"l': 6,
    ' ': 7,
    'm~n': 8,
  };
  test.each([
    ['', document],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/g|h', 4],
    ['/i\\j', 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
  ])('returns the value at %j', (pointer, value) => expect(getAt(document, parsePointer(pointer))).toEqual(value));

  test.each([
    '/foo/2',
    '/foo/-',
    '/foo/00',
    '/foo/01',
    '/foo/-1',
    '/foo/+1',
    '/foo/1e0',
    '/foo/length',
    '/foo/0/0',
    '/foo/ 1',
    '/foo/',
  ])('returns undefined for %j', (pointer) => expect(getAt(document, parsePointer(pointer))).toBeUndefined());

  test('returns undefined for inherited members', () => {
    for (const key of HAZARD_KEYS) expect(getAt({}, [key])).toBeUndefined();
    expect(getAt({}, ['constructor', 'prototype'])).toBeUndefined();
    expect(getAt('text', ['length'])).toBeUndefined();
    expect(getAt([], ['length'])).toBeUndefined();
  });

  test('returns own members with hazardous names', () => {
    for (const key of HAZARD_KEYS) expect(getAt(Object.fromEntries([[key, { x: 1 }]]), [key, 'x'])).toBe(1);
  });
});

test('setMember sets __proto__ as an own member', () => {
  const object: JsonObject = {};
  setMember(object, '__proto__', { polluted: true });
  expect(Object.keys(object)).toEqual(['__proto__']);
  expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
});
