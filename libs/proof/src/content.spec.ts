import type { JsonObject } from '@iss/domain/pure';
import { type LoggedVersion, requireContent } from './content';

const SUBJECT = { subject_type: 'organization', subject_id: 'acme-corp' };
const ENVELOPE = {
  ...{ snapshot_id: 'id-1', snapshot_version: 1, generated_at: '2026-01-15T09:30:00Z', subject: SUBJECT },
  change_kind: 'correction',
};
const HEADER: LoggedVersion = { ...ENVELOPE, envelope_hash: 'hash', prev_hash: null };

describe('requireContent', () => {
  const check =
    (changes: JsonObject, hash = 'hash') =>
    () =>
      requireContent('One:', HEADER, { ...ENVELOPE, ...changes }, hash);

  it('accepts content that agrees with the header, with an id in capitals', () => {
    expect(check({ snapshot_id: 'ID-1' })).not.toThrow();
  });

  it('accepts a header with an id in capitals', () => {
    expect(() => requireContent('One:', { ...HEADER, snapshot_id: 'ID-1' }, ENVELOPE, 'hash')).not.toThrow();
  });

  it('treats content without a change_kind as a change', () => {
    const content = JSON.parse(JSON.stringify({ ...ENVELOPE, change_kind: undefined }));
    expect(() => requireContent('One:', { ...HEADER, change_kind: 'change' }, content, 'hash')).not.toThrow();
    expect(() => requireContent('One:', HEADER, content, 'hash')).toThrow(
      /change_kind is change instead of correction/,
    );
  });

  it('refuses content with another hash', () => {
    expect(check({}, 'other')).toThrow(expect.objectContaining({ failure: 'hash' }));
  });

  it.each<[string, JsonObject]>([
    ['snapshot_id', { snapshot_id: 'id-2' }],
    ['snapshot_version', { snapshot_version: 2 }],
    ['generated_at', { generated_at: '2026-01-16T09:30:00Z' }],
    ['change_kind', { change_kind: 'change' }],
    ['subject_type', { subject: { ...SUBJECT, subject_type: 'person' } }],
    ['subject_id', { subject: { ...SUBJECT, subject_id: 'other' } }],
  ])('refuses content with another %s', (name, changes) => {
    const message = expect.stringMatching(new RegExp(`^One: the envelope.*’s ${name} is `));
    expect(check(changes)).toThrow(expect.objectContaining({ failure: 'header', message }));
  });
});
