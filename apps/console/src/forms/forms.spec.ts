/** @jest-environment ./src/testing/environment.cjs */
import '../testing/dom.ts';
import { keyIn } from './filters.tsx';
import { instantOf, isPast, localOf, changedMembers } from './form.tsx';

describe('the patch of a form', () => {
  const before = { name: 'Acme', slug: null as string | null, scopes: ['read_latest'] };

  it.each([
    ['no change', {}, {}],
    ['no equal list', { scopes: ['read_latest'] }, {}],
    ['a longer list', { scopes: ['read_latest', 'read_diff'] }, { scopes: ['read_latest', 'read_diff'] }],
    ['a text', { name: 'Acme AG' }, { name: 'Acme AG' }],
    ['an emptied text, and a text instead of null', { name: '', slug: 'acme' }, { name: '', slug: 'acme' }],
  ])('contains %s', (_what, changes, expected) => {
    expect(changedMembers(before, { ...before, ...changes })).toEqual(expected);
  });
});

describe('a time in a field', () => {
  it('is converted to local time and back', () => {
    expect(instantOf(localOf('2026-01-15T09:30:45.000Z'))).toBe('2026-01-15T09:30:45.000Z');
  });

  it('is later in a time zone east of Greenwich', () => {
    const zone = jest.spyOn(Date.prototype, 'getTimezoneOffset').mockReturnValue(-90);
    expect(localOf('2026-01-15T09:30:45.000Z')).toBe('2026-01-15T11:00:45');
    zone.mockRestore();
  });

  it.each([[null], [undefined], [''], ['no time']])('is empty for %s', (at) => {
    expect(localOf(at)).toBe('');
    expect(instantOf(localOf(at))).toBeNull();
  });

  it.each([
    ['', false],
    ['2000-01-01T00:00', true],
    ['2999-01-01T00:00', false],
    ['no time', true],
  ])('isPast("%s") is %s', (local, expected) => {
    expect(isPast(local)).toBe(expected);
  });
});

it.each([
  ['live', 'live'],
  ['', undefined],
  ['toString', undefined],
  [undefined, undefined],
])('keyIn reads the value %s of the address as %s', (text, expected) => {
  expect(keyIn({ live: 'Live', over: 'Over' }, text)).toBe(expected);
});
