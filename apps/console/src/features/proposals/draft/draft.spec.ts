/** @jest-environment ./src/testing/environment.cjs */
import '../../../testing/dom.ts';
import type { Snapshot } from '@identity-state/client';
import type { SubjectAddress } from '../../../app/address.ts';
import { type Draft, draftOn, drafts, isChanged } from './draft.ts';

const subject = { path: '/subjects/entity/acme' } as SubjectAddress;
const base = { envelope: { attributes: { name: 'Acme' } } } as unknown as Snapshot;
const draft = draftOn(subject, base);

it.each<[isLost: boolean, what: string, change: Partial<Draft>]>([
  [false, 'without changes', {}],
  [true, 'with another value', { content: { ...draft.content, attributes: { name: 'Acme Ltd' } } }],
  [true, 'with a typed text that is not a number yet', { unread: { '/attributes/share': '1e' } }],
  [true, 'with JSON that is not read yet', { text: { typed: '{}', fault: null, isPending: true } }],
  [true, 'with faulty JSON', { text: { typed: '{', fault: 'It ends early.', isPending: false } }],
  [false, 'with equal JSON', { text: { typed: '{}', fault: null, isPending: false } }],
])('asks for confirmation (%s) before a page closes with a draft %s', (isLost, _what, change) => {
  expect(isChanged({ ...draft, ...change })).toBe(isLost);
  drafts.keep({ ...draft, ...change });
  const closing = new Event('beforeunload', { cancelable: true });
  dispatchEvent(closing);
  expect(closing.defaultPrevented).toBe(isLost);
});

it('drafts keeps one draft per subject', () => {
  drafts.keep(draft);
  const other = { ...draft, subject: { ...subject, path: '/subjects/entity/other' } };
  drafts.keep(other);
  drafts.keep({ ...draft, replaces: 'u' });
  expect(drafts.list()).toHaveLength(2);
  expect(drafts.of(subject)?.replaces).toBe('u');
  drafts.drop(subject);
  expect(drafts.list()).toEqual([other]);
});
