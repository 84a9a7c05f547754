import { canonicalize, discloseView, type JsonObject } from '@iss/domain';
import fc from 'fast-check';
import { faultOfPaths, pathsOf, previewOf, shownOf, toggle } from './parts.ts';

const ATTRIBUTES = {
  legal: { name: 'Acme', form: 'AG', seat: { city: 'Zug', country: 'CH' } },
  'a/b~c': { x: 1 },
  people: [{ name: 'Ann', share: 26 }],
  odd: { _sd: 1, '...': 2, kept: [{ _sd: 3, y: 4 }] },
  empty: {},
} satisfies JsonObject;

const ENVELOPE = {
  attributes: ATTRIBUTES,
  evidence: [
    { evidence_id: 'e1', evidence_type: 'register' },
    { evidence_id: 'e2', evidence_type: 'register' },
    { evidence_id: 'e3', evidence_type: 'register', _sd: 'reserved' },
  ],
  attribute_paths: {
    '/attributes/legal': [{ evidence_id: 'e1', evidence_type: 'register' }],
    '/attributes/people/0/share': [{ evidence_id: 'e2', evidence_type: 'register' }],
    '/attributes/empty': [{ evidence_id: 'e3', evidence_type: 'register' }],
  },
} satisfies JsonObject;

const PLACES = [
  ...['/attributes/legal', '/attributes/legal/name', '/attributes/legal/seat', '/attributes/legal/seat/city'],
  ...['/attributes/a~1b~0c', '/attributes/a~1b~0c/x', '/attributes/people', '/attributes/people/0'],
  ...['/attributes/odd', '/attributes/odd/_sd', '/attributes/odd/kept', '/attributes/empty', '/attributes/missing/one'],
];

it('previewOf returns exactly what the service discloses, for any paths', () => {
  fc.assert(
    fc.property(fc.subarray(PLACES, { minLength: 1 }), (places) => {
      const visible = pathsOf(places.join('\n'));
      const source = { text: canonicalize(ENVELOPE), envelopeHash: '0'.repeat(64), prevHash: null };
      const view = discloseView({ ...source, secret: Buffer.alloc(32, 1), visible });
      const { attributes, evidence, attribute_paths } = JSON.parse(view.envelope);
      expect(canonicalize(previewOf(ENVELOPE, visible))).toBe(
        canonicalize({ attributes, evidence, ...(attribute_paths === undefined ? {} : { attribute_paths }) }),
      );
    }),
  );
});

it('toggle selects a whole object, and keeps the other members if one is cleared', () => {
  const one = toggle([], '/attributes/legal/name', ATTRIBUTES);
  expect(shownOf(one, '/attributes/legal')).toBe('some');
  const group = toggle(one, '/attributes/legal', ATTRIBUTES);
  expect(group).toEqual(['/attributes/legal']);
  expect(shownOf(group, '/attributes/legal/seat/city')).toBe('all');
  const less = toggle(group, '/attributes/legal/seat/city', ATTRIBUTES);
  expect(less).toEqual(['/attributes/legal/form', '/attributes/legal/name', '/attributes/legal/seat/country']);
  expect(shownOf(less, '/attributes/legal/seat/city')).toBe('none');
  expect(toggle(group, '/attributes/legal', ATTRIBUTES)).toEqual([]);
});

it('toggle changes the visibility of the toggled leaf and of no other leaf', () => {
  const leaves = [
    '/attributes/legal/name',
    '/attributes/legal/form',
    '/attributes/legal/seat/city',
    '/attributes/a~1b~0c/x',
  ];
  fc.assert(
    fc.property(fc.subarray(PLACES, { minLength: 1 }), fc.constantFrom(...leaves), (places, place) => {
      const before = pathsOf(places.join('\n'));
      const after = toggle(before, place, ATTRIBUTES);
      expect((shownOf(before, place) === 'all') !== (shownOf(after, place) === 'all')).toBe(true);
      for (const leaf of leaves.filter((one) => one !== place))
        expect(shownOf(after, leaf)).toBe(shownOf(before, leaf));
    }),
  );
});

it('pathsOf reads one path per line, without those below another one', () => {
  expect(pathsOf(' /attributes/b\n/attributes/a/x\n\n/attributes/a\n/attributes/b')).toEqual([
    '/attributes/a',
    '/attributes/b',
  ]);
});

it.each<[string[], RegExp | undefined]>([
  [[], /at least one/],
  [['legal'], /legal is not a path/],
  [['/attributes'], /not a path/],
  [['/attributes/~2'], /not a path/],
  [Array.from({ length: 101 }, (_, index) => `/attributes/${index}`), /101 .* 100/],
  [['/attributes/legal'], undefined],
])('faultOfPaths describes the fault of %j', (paths, fault) => {
  const found = faultOfPaths(paths);
  if (fault === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(fault);
});
