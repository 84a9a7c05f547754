import { hashText } from '@iss/domain';
import type { SnapshotRecord } from '@iss/persistence';
import { RecentAnswers } from './recent-answers';

const ENVELOPE = '{"attributes":{"name":"Zürich"}}';

const snapshot = (given: Partial<SnapshotRecord> = {}): SnapshotRecord => ({
  subjectType: 'organization',
  subjectId: 'a',
  snapshotId: '5b1f3f4e-1c5e-4a0e-9d0c-2f6f3f0f7a10',
  snapshotVersion: 1,
  generatedAt: '2026-01-15T09:30:00Z',
  createdAt: new Date(0),
  envelopeHash: hashText(ENVELOPE),
  prevHash: null,
  envelope: ENVELOPE,
  ...given,
});

const LATEST = { kind: 'latest', subject: { subjectType: 'organization', subjectId: 'a' } } as const;

/** A store with one snapshot, which says as the real one does that it is known. */
function reading(recent: RecentAnswers, stored: SnapshotRecord) {
  const known: (string | undefined)[] = [];
  const read = async (): Promise<string> => {
    const answer = await recent.answer(LATEST, async (hash) => {
      known.push(hash?.toString('hex'));
      return hash?.toString('hex') === stored.envelopeHash ? null : stored;
    });
    return answer.text;
  };
  return { known, read };
}

it('asks whether the snapshot is still the one it knows, and answers the same', async () => {
  const { known, read } = reading(new RecentAnswers(), snapshot());
  const texts = [await read(), await read(), await read()];
  expect(new Set(texts).size).toBe(1);
  expect(JSON.parse(texts[0] ?? '').envelope).toEqual(JSON.parse(ENVELOPE));
  expect(known).toEqual([undefined, hashText(ENVELOPE), hashText(ENVELOPE)]);
});

it('answers with another snapshot as soon as there is one', async () => {
  const recent = new RecentAnswers();
  await reading(recent, snapshot()).read();
  const newer = ENVELOPE.replace('Zürich', 'Basel');
  const next = snapshot({
    envelope: newer,
    envelopeHash: hashText(newer),
    snapshotVersion: 2,
    prevHash: hashText(ENVELOPE),
  });
  expect(await reading(recent, next).read()).toContain('Basel');
});

it.each([
  ['whose text has another hash', snapshot({ envelope: ENVELOPE.replace('Zürich', 'Basel') })],
  ['that was imported without its hashes', snapshot({ snapshotVersion: 2 })],
])('knows nothing of a snapshot %s', async (_, stored) => {
  const { known, read } = reading(new RecentAnswers(), stored);
  await read();
  await read();
  expect(known).toEqual([undefined, undefined]);
});
