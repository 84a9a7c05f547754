import { MAX_KNOWN_VERSIONS } from '../src/limits.ts';
import { KnownVersions, type VersionLink } from '../src/verify/known-versions.ts';

const link = (version: number, changes: Partial<VersionLink> = {}): VersionLink => ({
  subjectType: 'organization',
  subjectId: 'acme',
  version,
  snapshotId: `s-${version}`,
  envelopeHash: `h-${version}`,
  prevHash: version === 1 ? null : `h-${version - 1}`,
  recorded: version,
  effective: version,
  ...changes,
});
const failing = (failure: string) => expect.objectContaining({ name: 'VerificationError', failure });
const noted = (...links: readonly VersionLink[]): KnownVersions => {
  const known = new KnownVersions();
  for (const one of links) known.note(one);
  return known;
};

it.each<[string, VersionLink[], number]>([
  ['no version', [], 0],
  ['the first version', [link(1)], 1],
  ['versions in any order', [link(3), link(1), link(2), link(2)], 3],
  ['versions that are not neighbours', [link(7), link(2)], 7],
])('KnownVersions accepts %s', (_what, links, head) => {
  expect(noted(...links).headOf('organization', 'acme')).toBe(head);
});

it.each<[string, VersionLink[], VersionLink, string]>([
  ['another content', [link(2)], link(2, { envelopeHash: 'x' }), 'changed'],
  ['another id', [link(2)], link(2, { snapshotId: 'x' }), 'changed'],
  ['another prev_hash', [link(2)], link(2, { prevHash: 'x' }), 'changed'],
  ['a first version with a prev_hash', [], link(1, { prevHash: 'x' }), 'chain'],
  ['a later version without a prev_hash', [], link(2, { prevHash: null }), 'chain'],
  ['a prev_hash that differs from the previous version', [link(1)], link(2, { prevHash: 'x' }), 'chain'],
  ['a version that the known next version does not follow', [link(3)], link(2, { envelopeHash: 'x' }), 'chain'],
])('KnownVersions refuses %s', (_what, before, link_, failure) => {
  const known = noted(...before);
  const head = known.headOf('organization', 'acme');
  expect(() => known.note(link_)).toThrow(failing(failure));
  // A refused version is not remembered.
  expect(known.headOf('organization', 'acme')).toBe(head);
});

it('KnownVersions separates subjects by type and id', () => {
  const known = noted(link(1), link(1, { subjectId: 'beta', envelopeHash: 'x' }));
  known.note(link(1, { subjectType: 'entity', envelopeHash: 'y' }));
  expect(known.headOf('individual', 'acme')).toBe(0);
});

it('KnownVersions forgets the oldest version first', () => {
  const known = new KnownVersions();
  for (let version = 1; version <= MAX_KNOWN_VERSIONS + 1; version++) known.note(link(version));
  known.note(link(1, { snapshotId: 'another, since the first one is forgotten' }));
  expect(() => known.note(link(3, { envelopeHash: 'x' }))).toThrow(failing('changed'));
});
