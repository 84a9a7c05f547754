import * as fc from 'fast-check';
import { diffEnvelopes } from '../envelope/envelope-diff';
import { Classes, TextClasses } from '../json/classes';
import { applyPatch } from '../json/patch';
import type { JsonObject, JsonValue } from '../json/value';
import { policyProblems } from './evidence-policy';
import { followAttribution } from './follow';
import { listProvenance } from './provenance';
import { traceVersion } from './trace';

const EVERYTHING = {
  path: '/attributes',
  from: 0,
  limit: 1e6,
  maxBytes: 1e9,
  status: null,
  evidenceId: null,
  revoked: [],
  shown: null,
};

type Owner = { id: string; name: string; share: number };
const referenceTo = (id: string): JsonValue => ({ evidence_id: id, evidence_type: 'extract' });
const share = (index: number): string => `/attributes/owners/${index}/share`;
const list = (owners: readonly Owner[]): JsonValue => owners.map((owner) => ({ ...owner }));

/** Returns an envelope in which the share of each owner has evidence of its own. */
function envelope(owners: readonly Owner[], attribute_paths = pathsOf(owners)): JsonObject {
  const evidence = owners.map(({ id }) => ({ ...(referenceTo(id) as JsonObject), source: 'register' }));
  return { attributes: { owners: list(owners) }, evidence, attribute_paths, audit: { created_by: 'alice' } };
}
const pathsOf = (owners: readonly Owner[]): JsonObject =>
  Object.fromEntries(owners.map(({ id }, index) => [share(index), [referenceTo(id)]]));

const ownersOf = (ids: readonly number[]): Owner[] =>
  ids.map((id) => ({ id: `o${id}`, name: `Owner ${id}`, share: id % 3 }));
const ids = (min: number, max: number) => fc.uniqueArray(fc.integer({ min, max }), { maxLength: 8 });

/** Owners before and after some edits: added, removed, moved, renamed, or with another share. */
const edited = fc
  .record({
    before: ids(0, 9),
    added: ids(20, 29),
    removed: ids(0, 9),
    renamed: ids(0, 9),
    resized: ids(0, 9),
    order: fc.array(fc.nat(), { minLength: 20, maxLength: 20 }),
    isMoved: fc.boolean(),
  })
  .map(({ before, added, removed, renamed, resized, order, isMoved }) => {
    const all = ownersOf([...before.filter((id) => !removed.includes(id)), ...added]);
    const ranks = new Map(all.map(({ id }, at) => [id, order[at]!]));
    const sorted = isMoved ? all.toSorted((one, other) => ranks.get(one.id)! - ranks.get(other.id)!) : all;
    const is = (list: readonly number[], { id }: Owner): boolean => list.some((one) => id === `o${one}`);
    const after = sorted.map((owner) => ({
      ...owner,
      name: is(renamed, owner) ? 'Renamed' : owner.name,
      share: is(resized, owner) ? 100 : owner.share,
    }));
    return { before: ownersOf(before), after };
  });

test('attribution follows its element, in the patch and in provenance', () => {
  fc.assert(
    fc.property(edited, ({ before, after }) => {
      const base = envelope(before);
      // Existing values keep their evidence, and new ones have none.
      const isKept = ({ id }: Owner): boolean => before.some((one) => one.id === id);
      const expected = Object.fromEntries(Object.entries(pathsOf(after)).filter((_, at) => isKept(after[at]!)));
      const draft = { ...base, attributes: { owners: list(after) } };
      for (const classes of [new Classes(), new TextClasses()]) {
        const { paths } = followAttribution(base, draft, classes);
        expect(paths).toEqual(expected);
        // A second call moves nothing further.
        expect(followAttribution(base, { ...draft, attribute_paths: paths }, classes).paths).toEqual(expected);
      }

      const patch = diffEnvelopes(base, { ...draft, attribute_paths: expected }, ['/']);
      const next = applyPatch(base, patch);
      const { origins } = traceVersion(base, null, next, 2);
      const text = JSON.stringify(next);
      const { leaves } = listProvenance({ text, origins, ...EVERYTHING });
      const shares = leaves.filter(({ path }) => path.endsWith('/share'));
      expect(shares.map(({ sinceVersion, status, evidence }) => [sinceVersion, status, evidence.includes('register')])).toEqual(
        after.map((owner) => {
          if (!isKept(owner)) return [2, 'none', false];
          const isSame = owner.share !== 100;
          return [isSame ? 1 : 2, isSame ? 'current' : 'carried', true];
        }),
      ); // prettier-ignore
    }),
  );
});

test('attribution left at an index is never current for another element, and `fresh` refuses it', () => {
  fc.assert(
    fc.property(edited, ({ before, after }) => {
      const base = envelope(before);
      const own = Object.entries(pathsOf(before)).filter(([path]) => after.some((_, index) => path === share(index)));
      const next = {
        ...envelope(before),
        attributes: { owners: list(after) },
        attribute_paths: Object.fromEntries(own),
      };
      const { origins } = traceVersion(base, null, next, 2);
      const text = JSON.stringify(next);
      const { leaves } = listProvenance({ text, origins, ...EVERYTHING });
      const problems = policyProblems('fresh', base, next).map(({ path }) => path);
      after.forEach((owner, index) => {
        const isSame = before[index]?.id === owner.id && before[index]?.share === owner.share;
        const status = leaves.find(({ path }) => path === share(index))?.status;
        if (before[index] !== undefined) expect(status).toBe(isSame ? 'current' : 'carried');
        expect(problems.includes(share(index))).toBe(!isSame);
      });
    }),
  );
});

const [ann, bob, cy] = ownersOf([1, 2, 3]) as [Owner, Owner, Owner];

test.each<[string, JsonObject, JsonObject]>([
  ['moves it', { [share(0)]: [referenceTo('o2')] }, { [share(0)]: [referenceTo('o2')] }],
  ['names other evidence', { ...pathsOf([ann, bob]), [share(0)]: [referenceTo('new')] }, { [share(0)]: [referenceTo('new')] }],
  ['removes it', {}, {}],
  ['has attribution for other paths', { ...pathsOf([ann, bob]), '/extra': [] }, { [share(0)]: [referenceTo('o2')], '/extra': [] }],
])('followAttribution keeps the attribution of a draft that %s', (_, attribute_paths, expected) => {
  const draft = { ...envelope([bob]), attribute_paths };
  expect(followAttribution(envelope([ann, bob]), draft, new Classes()).paths).toEqual(expected);
}); // prettier-ignore

test('attribution of a missing element does not apply to a new element', () => {
  const paths = { ...pathsOf([ann]), [share(1)]: [referenceTo('o9')] };
  const base = envelope([ann], paths);
  expect(followAttribution(base, base, new Classes()).paths).toEqual(paths);
  const draft = { ...base, attributes: { owners: list([ann, cy]) } };
  expect(followAttribution(base, draft, new Classes()).paths).toEqual(pathsOf([ann]));
});

test('attribution does not follow to an element with another id', () => {
  const draft = { ...envelope([ann]), attributes: { owners: list([{ ...ann, id: 'other' }]) } };
  expect(followAttribution(envelope([ann]), draft, new Classes()).paths).toEqual({});
});

describe('the policy `fresh` for a removal', () => {
  const item = { ...(referenceTo('new') as JsonObject), source: 'letter' };
  const base = envelope([ann, bob]);
  const removed = (attribute_paths: JsonObject, evidence: JsonValue[]): unknown => {
    const next = { ...envelope([bob], { ...pathsOf([bob]), ...attribute_paths }), evidence: [...(base['evidence'] as JsonValue[]), ...evidence] };
    return policyProblems('fresh', base, next).map(({ path, code }) => `${path} ${code}`);
  }; // prettier-ignore

  test.each<[string, JsonObject, JsonValue[], string[]]>([
    ['refuses no evidence', {}, [], ['/attributes/owners no_fresh_evidence']],
    ['refuses existing evidence', { '/attributes/owners': [referenceTo('o1')] }, [], ['/attributes/owners no_fresh_evidence']],
    ['refuses new evidence without a reference', {}, [item], ['/attributes/owners no_fresh_evidence', '/evidence/2 unreferenced_evidence']],
    ['accepts new evidence for the list', { '/attributes/owners': [referenceTo('new')] }, [item], []],
    ['accepts new evidence for a parent', { '/attributes': [referenceTo('new')] }, [item], []],
    ['accepts existing evidence in a new role', { '/attributes': [{ ...(referenceTo('o1') as JsonObject), role: 'corroborating' }] }, [], []],
  ])('%s', (_, paths, evidence, expected) => {
    expect(removed(paths, evidence)).toEqual(expected);
  }); // prettier-ignore
});
