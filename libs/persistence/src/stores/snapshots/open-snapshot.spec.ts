import { hashText } from '@iss/domain';
import { DAMAGED_TEXTS, DamagedText, openSnapshot, openForVerdict, openIfIntact, readUnchecked } from './open-snapshot';
import type { SnapshotRow, UnopenedText } from './snapshot-record';

const TEXT = '{"attributes":{"name":"Zürich"}}';

function isUnopened(text: unknown): text is UnopenedText {
  return typeof text === 'string';
}

function row(text: string | null, envelopeHash: string | null = hashText(TEXT)): SnapshotRow {
  const envelope: unknown = text;
  return {
    snapshotId: '6f1c9f0e-6f43-4f6c-9a55-0d8f8f2f7a10',
    subjectType: 'company',
    subjectId: 'acme',
    snapshotVersion: 2,
    generatedAt: '2026-01-01T00:00:00Z',
    changeKind: 'change',
    createdAt: new Date(0),
    envelopeHash,
    prevHash: null,
    writtenBy: null,
    writeRequestId: null,
    envelope: isUnopened(envelope) ? envelope : null,
    erasure: null,
  };
}

const told: unknown[] = [];
const hear = (found: unknown): void => void told.push(found);
beforeAll(() => DAMAGED_TEXTS.subscribe(hear));
afterAll(() => DAMAGED_TEXTS.unsubscribe(hear));
beforeEach(() => told.splice(0));

it.each([
  ['matches its hash', row(TEXT)],
  ['has no hash yet', row('{"later":1}', null)],
  ['was not requested', row(null)],
])('opens a row whose text %s', (_, given) => {
  expect(openSnapshot(given)).toEqual(given);
  expect(told).toEqual([]);
});

it.each([
  ['changed by one character', row(TEXT.replace('ü', 'u')), 'hash'],
  ['emptied', row(''), 'hash'],
  ['invalid JSON without a hash', row('{"later":', null), 'syntax'],
])('refuses a text that was %s, and publishes the damaged version', (_, given, damage) => {
  expect(() => openSnapshot(given)).toThrow(/^Version 2 of company\/acme /);
  expect(openIfIntact(given)).toBeNull();
  expect(told).toHaveLength(2);
  const [first] = told;
  expect(first instanceof DamagedText && first.damage).toBe(damage);
  expect(JSON.stringify(told)).not.toContain('attributes');
});

it('openForVerdict accepts any JSON text', () => {
  const changed = row(TEXT.replace('ü', 'u'));
  expect(openForVerdict(changed)).toEqual(changed);
  expect(() => openForVerdict(row('{'))).toThrow(/is damaged/);
  expect(readUnchecked(row('{')).envelope).toBe('{');
});
