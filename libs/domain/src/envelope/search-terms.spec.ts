import type { JsonObject } from '../json/value';
import {
  foldName,
  MAX_DISPLAY_NAME,
  MAX_IDENTIFIER,
  MAX_IDENTIFIERS,
  MAX_NAME,
  parseIdentifier,
  searchTermsOf,
} from './search-terms';

const identifiersOf = (identifiers: JsonObject) => searchTermsOf({ attributes: { identifiers } }).identifiers;

describe('identifiers', () => {
  it.each([
    ['lei:5493001KJTIIGC8Y1R12', { scheme: 'lei', value: '5493001KJTIIGC8Y1R12' }],
    ['LEI: 5493 001K-JTIIGC8Y1R.12', { scheme: 'lei', value: '5493001KJTIIGC8Y1R12' }],
    ['vat:che–123.456.789', { scheme: 'vat', value: 'CHE123456789' }],
    ['did:did:web:example.org', { scheme: 'did', value: 'DID:WEB:EXAMPLEORG' }],
    ['ｌｅｉ:１２', { scheme: 'lei', value: '12' }],
    ['straße:gauß', { scheme: 'strasse', value: 'GAUSS' }],
    ['ΚΩΔΙΚΌΣ:ẞ', { scheme: 'κωδικόσ', value: 'SS' }],
  ])('parseIdentifier folds %s', (text, expected) => {
    expect(parseIdentifier(text)).toEqual(expected);
    const colon = text.indexOf(':');
    const key = text.slice(0, colon);
    expect(identifiersOf({ [key]: text.slice(colon + 1) })).toEqual([
      { ...expected, path: `/attributes/identifiers/${key}` },
    ]);
  });

  it.each([
    ['5493 001k-jtiigc8y1r 12', '5493001KJTIIGC8Y1R12'],
    ['12-345', '12345'],
    ['lei', 'LEI'],
  ])('parseIdentifier returns no scheme for %s', (text, value) => {
    expect(parseIdentifier(text)).toEqual({ scheme: null, value });
  });

  it.each([
    '',
    ' - .',
    'a\u0000b',
    '1'.repeat(MAX_IDENTIFIER + 1),
    'lei:',
    ':1',
    'lei: - .',
    'lei:a\u0000b',
    `lei:${'1'.repeat(MAX_IDENTIFIER + 1)}`,
    'a\u0001:1',
  ])('parseIdentifier returns null for %j', (text) => expect(parseIdentifier(text)).toBeNull());

  it('are the strings of the group whose scheme has no colon', () => {
    expect(identifiersOf({ lei: 'A', duns: 1, tax: null, more: ['B'], 'a:b': 'C', vat: 'd' })).toEqual([
      { scheme: 'lei', value: 'A', path: '/attributes/identifiers/lei' },
      { scheme: 'vat', value: 'D', path: '/attributes/identifiers/vat' },
    ]);
    for (const attributes of [{}, { identifiers: [] }, { identifiers: 'lei' }, null]) {
      expect(searchTermsOf({ attributes })).toEqual({ name: null, displayName: null, namePath: null, identifiers: [] });
    }
  });

  it('are limited in number, with each scheme once', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`s${index + 100}`, 'x']));
    const found = identifiersOf(many);
    expect(found).toHaveLength(MAX_IDENTIFIERS);
    expect(found[0]).toEqual({ scheme: 's100', value: 'X', path: '/attributes/identifiers/s100' });
    expect(identifiersOf({ 'LEI/~': 'a', 'lei/~': 'b' })).toEqual([
      { scheme: 'lei/~', value: 'B', path: '/attributes/identifiers/lei~1~0' },
    ]);
  });
});

describe('names', () => {
  it.each([
    [{ legal: { legal_name: '  Zürich\t ÖL  AG ' } }, 'zurich ol ag'],
    [{ legal: { legal_name: 'Ａcme' }, biographic: { name: { formatted_name: 'B' } } }, 'acme'],
    [{ biographic: { name: { formatted_name: 'Dr. Ada Lovelace', given_name: 'Ada' } } }, 'dr. ada lovelace'],
    [{ biographic: { name: { given_name: 'Ada', family_name: 'Lovelace' } } }, 'ada lovelace'],
    [{ biographic: { name: { family_name: 'Lovelace' } } }, 'lovelace'],
    [{ legal: { legal_name: '\u0000' } }, null],
    [{ legal: { legal_name: 7 } }, null],
    [{ __proto__: null }, null],
    [{ legal: { legal_name: 'STRASSENBAU ẞ' } }, 'strassenbau ss'],
    [{ legal: { legal_name: 'Straßenbau ß' } }, 'strassenbau ss'],
    [{ legal: { legal_name: 'ΟΔΟΣ ΟΔΥΣΣΕΎΣ' } }, 'οδοσ οδυσσευσ'],
    [{ legal: { legal_name: 'οδος Οδυσσεύς' } }, 'οδοσ οδυσσευσ'],
  ])('searchTermsOf returns the folded name of %j', (attributes, expected) => {
    expect(searchTermsOf({ attributes }).name).toBe(expected);
  });

  it.each([
    ['Müller', 'muller'],
    ['MÜLLER', 'muller'],
    ['Mu\u0308ller', 'muller'],
    ['Łódź', 'lodz'],
    ['Straße', 'strasse'],
    ['Øresund', 'oresund'],
    ['Ærø Œuvre Þór', 'aero oeuvre thor'],
    ['İstanbul Isparta ısı', 'istanbul isparta isi'],
    ['Đặng Thị Điệp', 'dang thi diep'],
    ['Йорк', 'иорк'],
    // Other scripts keep their marks, without which a word is another one.
    ['हिन्दी', 'हिन्दी'],
    ['ガス 가나', 'ガス 가나'],
  ])('foldName removes the accents of %s', (name, expected) => {
    expect(foldName(name)).toBe(expected);
    expect(foldName(expected)).toBe(expected);
  });

  it.each([
    [{ legal: { legal_name: 'A' }, biographic: { name: { formatted_name: 'B' } } }, '/attributes/legal/legal_name'],
    [{ biographic: { name: { formatted_name: 'B', given_name: 'B' } } }, '/attributes/biographic/name/formatted_name'],
    [{ biographic: { name: { given_name: 'B' } } }, '/attributes/biographic/name'],
    [{}, null],
  ])('searchTermsOf returns the path of the name of %j', (attributes, expected) => {
    expect(searchTermsOf({ attributes }).namePath).toBe(expected);
  });

  it.each([
    [' Müller\t & \u0000Söhne ', 'Müller & Söhne'],
    ['𝒳'.repeat(300), '𝒳'.repeat(MAX_DISPLAY_NAME)],
  ])('searchTermsOf keeps the accents in the display name of %j', (legal_name, expected) => {
    expect(searchTermsOf({ attributes: { legal: { legal_name } } }).displayName).toBe(expected);
  });

  it('are cut after MAX_NAME characters', () => {
    const name = '😀'.repeat(1_000_000);
    expect([...foldName(name)]).toHaveLength(MAX_NAME);
    expect(foldName(`${'a'.repeat(MAX_NAME - 1)} b`)).toBe('a'.repeat(MAX_NAME - 1));
  });
});
