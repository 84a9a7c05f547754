import fc from 'fast-check';
import { isDateTime, isRecurrence, isUuid, parseDateTime, parsePeriod, requireExpiry, sameUuid } from './formats';

describe('isUuid', () => {
  it.each([
    '4f2c7a1e-9a3b-4c5d-8e6f-0123456789ab',
    '4F2C7A1E-9A3B-4C5D-8E6F-0123456789AB',
    '00000000-0000-0000-0000-000000000000',
  ])('accepts %s', (text) => expect(isUuid(text)).toBe(true));

  it.each([
    '',
    '4f2c7a1e9a3b4c5d8e6f0123456789ab',
    '{4f2c7a1e-9a3b-4c5d-8e6f-0123456789ab}',
    '4f2c7a1e-9a3b-4c5d-8e6f-0123456789ag',
    '4f2c7a1e-9a3b-4c5d-8e6f-0123456789ab\n',
    ' 4f2c7a1e-9a3b-4c5d-8e6f-0123456789ab',
  ])('refuses %j', (text) => expect(isUuid(text)).toBe(false));

  it('sameUuid ignores case', () => {
    expect(sameUuid('4F2C7A1E-9A3B-4C5D-8E6F-0123456789AB', '4f2c7a1e-9a3b-4c5d-8e6f-0123456789ab')).toBe(true);
    expect(sameUuid('4f2c7a1e-9a3b-4c5d-8e6f-0123456789ab', '4f2c7a1e-9a3b-4c5d-8e6f-0123456789ac')).toBe(false);
  });
});

describe('isDateTime', () => {
  it.each([
    '2026-01-31T23:59:59Z',
    '2026-01-31t23:59:59.123456789z',
    '2024-02-29T00:00:00+14:00',
    '2000-02-29T00:00:00-00:00',
    '0001-01-01T00:00:00Z',
    '9999-12-31T23:59:59-23:59',
    '2016-12-31T23:59:60Z',
    '2015-07-01T01:59:60+02:00',
    '1990-12-31T15:59:60-08:00',
  ])('accepts %s', (text) => expect(isDateTime(text)).toBe(true));

  it.each([
    '',
    '2026-01-31',
    '2026-01-31T23:59:59',
    '2026-01-31 23:59:59Z',
    '2026-01-31T23:59Z',
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:61Z',
    '2026-01-01T00:00:60Z',
    '2026-11-30T23:59:60Z',
    '2016-12-30T23:59:60Z',
    '2016-12-31T23:59:60+01:00',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+01:60',
    '2026-01-01T00:00:00+0100',
    '2026-01-01T00:00:00+01',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00,5Z',
    '0000-01-01T00:00:00Z',
    '+002026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z\n',
    '２０２６-01-01T00:00:00Z',
    `2026-01-01T00:00:00.${'1'.repeat(31)}Z`,
  ])('refuses %j', (text) => {
    expect(isDateTime(text)).toBe(false);
    expect(parseDateTime(text)).toBeNull();
  });

  it('parseDateTime reads every text of toISOString', () => {
    const date = fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    fc.assert(fc.property(date, (instant) => expect(parseDateTime(instant.toISOString())).toEqual(instant)));
  });

  it.each([
    ['2026-03-01T00:30:00.5+01:00', '2026-02-28T23:30:00.500Z'],
    ['2026-03-01T00:30:00.123999-01:30', '2026-03-01T02:00:00.123Z'],
    ['0050-06-01T00:00:00Z', '0050-06-01T00:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
  ])('parseDateTime reads %s as %s', (text, instant) => expect(parseDateTime(text)?.toISOString()).toBe(instant));
});

describe('requireExpiry', () => {
  it('accepts a time in the future, and null for no expiry', () => {
    expect(requireExpiry(null)).toBeNull();
    expect(requireExpiry('2999-01-01T00:00:00Z')).toEqual(new Date('2999-01-01T00:00:00Z'));
  });

  it.each([
    ['2999-01-01', 'must be an RFC 3339 date-time with a timezone'],
    ['2001-01-01T00:00:00Z', 'must be in the future'],
  ])('refuses %s', (text, message) => {
    expect(() => requireExpiry(text)).toThrow(
      expect.objectContaining({
        code: 'validation_error',
        details: [{ path: '/expires_at', message, code: 'invalid_value' }],
      }),
    );
  });
});

it.each([
  ['2026-01-15', '2026-01-15T00:00:00.000Z', '2026-01-15T23:59:59.999Z'],
  ['2026-01-15T10:00:00+01:00', '2026-01-15T09:00:00.000Z', '2026-01-15T09:00:00.000Z'],
])('parsePeriod reads %s as %s to %s', (text, first, last) => {
  expect(parsePeriod(text)).toEqual({ first: new Date(first), last: new Date(last) });
});

it.each([
  ['P1D', true],
  ['P1Y6M', true],
  ['P5Y', true],
  ['P5Y1D', false],
  ['P0D', false],
  ['P', false],
  ['PT1H', false],
])('isRecurrence(%s) is %s', (text, expected) => {
  expect(isRecurrence(text)).toBe(expected);
});
