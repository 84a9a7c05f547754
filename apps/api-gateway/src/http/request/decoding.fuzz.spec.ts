import { randomBytes } from 'node:crypto';
import { DomainError, isUuid, SUBJECT_TYPES } from '@iss/domain';
import { SecretBox } from '@iss/platform';
import * as fc from 'fast-check';
import { anyText } from '../../../../../libs/domain/src/testing/any-text';
import { fuzzing } from '../../../../../libs/domain/src/testing/fuzz';
import { Cursors } from '../lists/cursors';
import { subjectOfPath, tenantIdOf, uuidOf, versionOfPath } from './path-params';

const fuzz = fuzzing(3);
const cursors = new Cursors(SecretBox.fromKeyRing(`test:${randomBytes(32).toString('base64')}`));
const sentText = fc.oneof(anyText(600), fc.uuid(), fc.constantFrom(...SUBJECT_TYPES));

/** Returns the result of `read`, or undefined if it refuses the input with one problem under this path. */
function attempt<T>(under: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    expect(error.code).toBe('validation_error');
    const paths = (error.details ?? []).map(({ path }) => path);
    expect(paths.length).toBeGreaterThan(0);
    for (const path of paths) expect(path.startsWith(under)).toBe(true);
    return undefined;
  }
}

fuzz(
  'a cursor is read as written, or refused if it is altered or of another place',
  [fc.array(fc.oneof(fc.integer(), fc.string())), sentText, fc.nat()],
  (position, text, at) => {
    const written = cursors.write(position, 'place');
    expect(cursors.read(written, 'place')).toEqual(position);
    expect(attempt('/query/cursor', () => cursors.read(text, 'place'))).toBeUndefined();
    expect(attempt('/query/cursor', () => cursors.read(written, 'another place'))).toBeUndefined();
    const cut = at % written.length;
    const changed = `${written.slice(0, cut)}${text.slice(0, 3)}${written.slice(cut + 1)}`;
    if (changed !== written)
      expect(attempt('/query/cursor', () => cursors.read(changed, 'place')) ?? position).toEqual(position);
  },
);

fuzz('a subject in a path is within its limits, or is refused', [sentText, sentText], (type, id) => {
  const subject = attempt('/path/subject_', () => subjectOfPath(type, id));
  if (subject === undefined) return;
  expect(SUBJECT_TYPES).toContain(subject.subjectType);
  expect([...subject.subjectId].length).toBeLessThanOrEqual(512);
  expect(subject.subjectId).not.toMatch(/\p{Cc}/u);
});

fuzz(
  'ids and versions in a path are valid, or are refused',
  [sentText, fc.oneof(sentText, fc.integer().map(String))],
  (text, number) => {
    const uuid = attempt('/path/id', () => uuidOf(text, { name: 'id' }));
    expect(uuid === undefined || isUuid(uuid)).toBe(true);
    const tenantId = attempt('/path/tenant_id', () => tenantIdOf(text));
    expect(tenantId ?? 'a').toMatch(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/);
    const version = attempt('/path/snapshot_version', () => versionOfPath(number));
    expect(version ?? 1).toBeGreaterThanOrEqual(1);
  },
);
