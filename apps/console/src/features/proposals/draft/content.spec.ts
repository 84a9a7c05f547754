import { fitOf, withItem, withMended, withRole, withSupport, withValueAt } from './backing.ts';
import {
  carriedOver,
  contentFrom,
  moveAttribution,
  type JsonObject,
  draftPatch,
  attributionOf,
  stepsOf,
  removePlace,
  withValue,
} from './content.ts';

const item = (id: string): JsonObject => ({
  evidence_id: id,
  evidence_type: 'registry_extract',
  source: 'register',
  captured_at: '2026-01-01T00:00:00Z',
});
const reference = (id: string): JsonObject => ({ evidence_id: id, evidence_type: 'registry_extract' });
const primary = (id: string): JsonObject => ({ ...reference(id), role: 'primary' });

const NAME = '/attributes/name';
const BASE: JsonObject = {
  attributes: { name: 'Old Ltd', list: ['a', 'b', 'c'], group: { x: 1 } },
  evidence: [item('old')],
  attribute_paths: {
    [NAME]: [reference('old')],
    '/attributes/list/1': [reference('old')],
    '/attributes/list/2': [reference('old')],
    '/attributes/group': [reference('old')],
  },
};

describe('the content of a draft', () => {
  it('changes one place without a change to the base', () => {
    const text = JSON.stringify(BASE);
    const changed = withValue(BASE, ['attributes', 'group', '__proto__'], 'own');
    expect(draftPatch(BASE, changed)).toEqual([{ op: 'add', path: '/attributes/group/__proto__', value: 'own' }]);
    expect(changed['evidence']).toBe(BASE['evidence']);
    expect(JSON.stringify(BASE)).toBe(text);
  });

  it('loses the attribution of a removed element, and moves that of later elements', () => {
    expect(removePlace(BASE, ['attributes', 'list', '1'])).toEqual({
      ...BASE,
      attributes: { name: 'Old Ltd', list: ['a', 'c'], group: { x: 1 } },
      attribute_paths: {
        [NAME]: [reference('old')],
        '/attributes/list/1': [reference('old')],
        '/attributes/group': [reference('old')],
      },
    });
  });

  it('has a state of evidence for each value', () => {
    const changed = withValueAt(BASE, BASE, NAME, 'New Ltd');
    expect(fitOf(BASE, changed, NAME, true)).toBe('carried');
    expect(fitOf(BASE, BASE, NAME, false)).toBe('kept');
    expect(fitOf(BASE, BASE, '/attributes/list/0', false)).toBe('none');
    expect(fitOf(BASE, { ...BASE, evidence: [] }, '/attributes/group/x', false)).toBe('missing');
    const added = { ...changed, evidence: [item('old'), item('new')] };
    const named = withSupport(BASE, added, item('new'), { pointer: NAME, isOn: true });
    expect(named['attribute_paths']).toMatchObject({ [NAME]: [primary('new')] });
    expect(fitOf(BASE, named, NAME, true)).toBe('current');
    expect(withSupport(BASE, named, item('new'), { pointer: NAME, isOn: false })).toEqual(added);
  });

  it('keeps old evidence beside new evidence while the value is unchanged', () => {
    const added = { ...BASE, evidence: [item('old'), item('new')] };
    const named = withSupport(BASE, added, item('new'), { pointer: NAME, isOn: true });
    const both = [reference('old'), reference('new')];
    expect(named['attribute_paths']).toMatchObject({ [NAME]: both });
    const changed = withValueAt(BASE, named, NAME, 'New Ltd');
    expect(changed['attribute_paths']).toMatchObject({ [NAME]: [reference('new')] });
    expect(withValueAt(BASE, changed, NAME, 'Old Ltd')).toEqual(named);
  });

  it('replaces dangling references and evidence of older values', () => {
    const gone = [reference('gone')];
    const paths = { ...attributionOf(BASE), [NAME]: [reference('old'), ...gone], '/attributes/list': gone };
    const draft = { ...BASE, attribute_paths: paths, evidence: [item('old'), item('new')] };
    const mended = withMended(BASE, draft, item('new'), { pointer: '/attributes/list/0', stale: [] });
    expect(mended['attribute_paths']).toEqual({
      ...paths,
      [NAME]: [reference('old'), primary('new')],
      '/attributes/list': [primary('new')],
    });
    const stale = ['/attributes/group/x', '/attributes/list/2'];
    const renewed = withMended(BASE, draft, item('new'), { pointer: '/attributes/group/x', stale });
    expect(renewed['attribute_paths']).toEqual({
      ...paths,
      '/attributes/group/x': [primary('new')],
      '/attributes/list/2': [primary('new')],
    });
    expect(withRole(renewed, item('new'), 'corroborating')['attribute_paths']).toMatchObject({
      '/attributes/list/2': [{ ...reference('new'), role: 'corroborating' }],
    });
  });

  it('loses a dangling reference if the value changes', () => {
    const draft = { ...BASE, evidence: [item('new')] };
    const changed = withValueAt(BASE, draft, NAME, 'New Ltd');
    const named = withSupport(BASE, changed, item('new'), { pointer: NAME, isOn: true });
    expect(named['attribute_paths']).toMatchObject({ [NAME]: [primary('new')] });
  });

  it('updates references to an item with a new id, and removes those to a removed item', () => {
    const added = { ...BASE, evidence: [item('old'), item('new')] };
    const named = withSupport(BASE, added, item('new'), { pointer: '/attributes/list/0', isOn: true });
    const renamed = withItem(BASE, named, 1, item('newer'));
    expect(renamed['attribute_paths']).toMatchObject({ '/attributes/list/0': [reference('newer')] });
    expect(withItem(BASE, renamed, 1, null)).toEqual(BASE);
  });

  it('is rebased onto a newer version, with conflicts and changes that no longer apply', () => {
    const draft = withValue(
      withValue(withValue(BASE, ['attributes', 'name'], 'Ours'), ['attributes', 'group', 'x'], 2),
      ['evidence', '1'],
      item('ours'),
    );
    const head: JsonObject = { ...BASE, attributes: { name: 'Theirs', list: ['a'] }, evidence: [] };
    const over = carriedOver(BASE, draft, head);
    expect(over.content).toEqual({ ...head, attributes: { name: 'Ours', list: ['a'] }, evidence: [item('ours')] });
    expect(over.both).toEqual([NAME]);
    expect(over.left.map(({ path }) => path)).toEqual(['/attributes/group/x']);
  });

  it('is rebased without moving a change to another element', () => {
    const list = ['attributes', 'list'];
    const path = '/attribute_paths/~1attributes~1list~10';
    const draft = withSupport(
      BASE,
      withValue(withValue(BASE, [...list, '0'], 'ours'), [...list, '3'], 'd'),
      item('old'),
      { pointer: '/attributes/list/0', isOn: true },
    );
    const head = { ...BASE, attributes: { ...(BASE['attributes'] as JsonObject), list: ['new', 'a', 'b', 'c'] } };
    const over = carriedOver(BASE, draft, head);
    expect(over.content).toEqual(withValue(head, [...list, '4'], 'd'));
    expect(over.left.map((one) => one.path)).toEqual([path, '/attributes/list/0']);
  });

  it('moves the evidence of an element in typed content', () => {
    const typed = { ...BASE, attributes: { ...(BASE['attributes'] as JsonObject), list: ['b', 'c'] } };
    expect(moveAttribution(BASE, typed)['attribute_paths']).toEqual({
      [NAME]: [reference('old')],
      '/attributes/list/0': [reference('old')],
      '/attributes/list/1': [reference('old')],
      '/attributes/group': [reference('old')],
    });
  });

  it('adds evidence of a removal to an object, and keeps its other evidence', () => {
    const group = '/attributes/group';
    const draft = { ...removePlace(BASE, ['attributes', 'group', 'x']), evidence: [item('old'), item('new')] };
    const supported = withSupport(BASE, draft, item('new'), { pointer: group, isOn: true });
    expect(attributionOf(supported)[group]).toEqual([reference('old'), primary('new')]);
  });

  it('has steps with the value before each step', () => {
    const to = removePlace(removePlace(BASE, ['attributes', 'list', '0']), ['attributes', 'list', '0']);
    const removed = stepsOf(BASE, to, 10).steps.filter(({ path }) => path.startsWith('/attributes/list'));
    expect(removed.map(({ op, before }) => [op, before]).sort()).toEqual([
      ['remove', 'a'],
      ['remove', 'b'],
    ]);
    expect(stepsOf(BASE, to, 1).more).toBe(draftPatch(BASE, to).length - 1);
  });

  it.each([
    ['[]', 'object'],
    ['{"a": 1, "a": 2}', 'a'],
    ['{"snapshot_id": "x"}', 'snapshot_id'],
    ['{', ''],
  ])('is refused if typed as %s, with the reason "%s"', (text, reason) => {
    expect(() => contentFrom(text)).toThrow(reason);
  });
});
