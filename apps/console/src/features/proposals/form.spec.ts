/** @jest-environment ./src/testing/environment.cjs */
import '../../testing/dom.ts';
import { ValidationError } from '@identity-state/client';
import { numberOf, shortText } from './attribute-leaf.tsx';
import { missingOf } from './evidence-form.tsx';
import { faultsOf } from './draft/faults.ts';
import { changedPathsText } from './proposals-view.tsx';

it.each([
  ['0', 0],
  ['-3.5e2', -350],
  [' 12 ', 12],
  ['01', null],
  ['1.', null],
  ['.5', null],
  ['+1', null],
  ['1e999', null],
  ['', null],
  ['x', null],
])('numberOf("%s") is %s', (text, expected) => {
  expect(numberOf(text)).toBe(expected);
});

it.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc…'],
  [{ a: 1 }, 20, '{"a":1}'],
])('shortText shows %j in %i characters', (value, most, expected) => {
  expect(shortText(value, most)).toBe(expected);
});

it('missingOf names missing members only of new evidence', () => {
  const old = { evidence_id: 'a', evidence_type: '', source: '' };
  const base = { evidence: [old] };
  const content = { evidence: [old, { evidence_id: 'b', evidence_type: ' ', source: 'register', captured_at: 'now' }] };
  expect([...missingOf(base, content).keys()]).toEqual(['/evidence/1/evidence_type']);
});

it('faultsOf assigns each refusal to its operation and its place', () => {
  const patch = [
    { op: 'add' as const, path: '/attributes/a', value: 1 },
    { op: 'remove' as const, path: '/attributes/b' },
  ];
  const details = [
    { path: '/patch_ops/0/value', code: 'invalid_value', message: 'No.' },
    { path: '/patch_ops/1', code: 'invalid_value', message: 'in the result, /attributes/c must be a text' },
    { path: '/request_id', code: 'invalid_value', message: 'Long.' },
  ];
  const error = new ValidationError({
    ...{ status: 400, code: 'validation_error', message: 'Wrong.', details },
    ...{ requestId: null, retryAfterMs: null, erased: null },
  });
  const { places, operations } = faultsOf(error, patch);
  expect([...places]).toEqual([
    ['/attributes/a', ['No.']],
    ['/attributes/c', ['must be a text']],
  ]);
  expect([...operations.keys()]).toEqual([0, 1]);
  expect(faultsOf(new Error('No.'), patch).places.size).toBe(0);
});

it.each([
  [['/attributes/legal/legal_name', '/evidence/0'], 'Legal / Legal name'],
  [['/evidence/0', '/evidence/0'], 'Evidence 1'],
  [['/attribute_paths/~1attributes~1legal'], 'Evidence for Legal'],
  [['/attribute_paths/~1a~02'], 'Evidence for /a~2'],
  [['/attributes/a', '/attributes/b', '/attributes/c', '/attributes/d', '/attributes/e'], /^A, .* and \d more$/],
])('changedPathsText summarizes %j in one line', (paths, expected) => {
  const text = changedPathsText(paths.map((path) => ({ op: 'add', path, value: 1 })));
  if (typeof expected === 'string') expect(text).toBe(expected);
  else expect(text).toMatch(expected);
});
