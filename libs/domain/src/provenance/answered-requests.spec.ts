import * as fc from 'fast-check';
import type { JsonObject } from '../json/value';
import { jsonValues } from '../testing/json-values';
import { answeredRequests, type AskedPaths } from './answered-requests';
import { listProvenance } from './provenance';
import { traceVersion } from './trace';

const item = (id: string): JsonObject => ({ evidence_id: id, evidence_type: 'extract' });
const envelope = (attributes: JsonObject, backed: Record<string, string>): JsonObject => ({
  attributes,
  evidence: Object.values(backed).map(item),
  attribute_paths: Object.fromEntries(Object.entries(backed).map(([path, id]) => [path, [item(id)]])),
});

const FIRST = envelope({ name: 'a', seat: { town: 'b', zip: '1' }, list: ['x'] }, { '/attributes': 'ev-1' });
/** The name has new evidence. The town changed without any, its zip did not change, and an element was added. */
const SECOND = envelope(
  { name: 'A', seat: { town: 'B', zip: '1' }, list: ['x', 'y'] },
  { '/attributes': 'ev-1', '/attributes/name': 'ev-2', '/attributes/list': 'ev-3' },
);

const answers = (asked: AskedPaths[]): boolean[] | undefined => {
  const { origins } = traceVersion(FIRST, null, SECOND, 2);
  return answeredRequests([{ text: JSON.stringify(SECOND), origins, asked }])[0];
};

test.each<[string, string[], number, boolean]>([
  ['is answered by a leaf that changed with new evidence', ['/attributes/name'], 1, true],
  ['is not answered by a change from before the request', ['/attributes/name'], 2, false],
  ['is not answered by a change with carried evidence', ['/attributes/seat/town'], 1, false],
  ['is not answered by a leaf that did not change', ['/attributes/seat/zip'], 1, false],
  ['is answered by a change with new evidence in its subtree', ['/attributes/list'], 1, true],
  ['is answered by an added element', ['/attributes/list/1'], 1, true],
  ['is not answered by an element that existed before', ['/attributes/list/0'], 1, false],
  ['is not answered by a subtree with a carried change', ['/attributes/seat'], 1, false],
  ['for all attributes is not answered if one change is carried', ['/attributes'], 1, false],
  [
    'for nested paths is answered if all of them changed',
    ['/attributes/list', '/attributes/list/1', '/attributes/name'],
    1,
    true,
  ],
  ['for two paths is not answered if only one changed', ['/attributes/name', '/attributes/seat/zip'], 1, false],
  ['for a missing path is not answered', ['/attributes/none'], 1, false],
  ['for an invalid index is not answered', ['/attributes/list/01'], 1, false],
  ['for an inherited name is not answered', ['/attributes/constructor'], 1, false],
  ['for a path outside /attributes is not answered', ['/evidence/0'], 1, false],
])('a request %s', (_, paths, askedAt, isAnswered) => {
  expect(answers([{ paths, askedAt }])).toEqual([isAnswered]);
});

it('answeredRequests decides each request separately', () => {
  const paths = ['/attributes/name'];
  expect(answers([{ paths, askedAt: 2 }, { paths, askedAt: 1 }])).toEqual([false, true]); // prettier-ignore
});

it('a request is not answered by a version without attributes', () => {
  const text = JSON.stringify(envelope({}, {}));
  const { origins } = traceVersion(FIRST, null, envelope({}, {}), 2);
  const asked = [{ paths: ['/attributes'], askedAt: 1 }];
  expect(answeredRequests([{ text, origins, asked }])).toEqual([[false]]);
});

it('answeredRequests agrees with listProvenance', () => {
  const values = jsonValues(fc.constantFrom('a', 'b', '0'));
  const paths = fc
    .array(fc.constantFrom('a', 'b', '0', '1'), { maxLength: 3 })
    .map((tokens) => ['/attributes', ...tokens].join('/'));
  fc.assert(
    fc.property(values, values, paths, paths, (before, after, backed, path) => {
      const first = envelope({ a: before, b: before }, { '/attributes': 'ev-1' });
      const second = envelope({ a: after, b: before }, { '/attributes': 'ev-1', [backed]: 'ev-2' });
      const { origins } = traceVersion(first, null, second, 2);
      const text = JSON.stringify(second);
      const all = {
        text,
        origins,
        path: '/attributes',
        status: null,
        evidenceId: null,
        revoked: [],
        shown: null,
        from: 0,
        limit: 1e6,
        maxBytes: 1e9,
      };
      const changed = listProvenance(all).leaves.filter(
        (leaf) => leaf.sinceVersion === 2 && (leaf.path === path || leaf.path.startsWith(`${path}/`)),
      );
      const isAnswered = changed.length > 0 && changed.every(({ status }) => status === 'current');
      expect(answeredRequests([{ text, origins, asked: [{ paths: [path], askedAt: 1 }] }])).toEqual([[isAnswered]]);
    }),
  );
});
