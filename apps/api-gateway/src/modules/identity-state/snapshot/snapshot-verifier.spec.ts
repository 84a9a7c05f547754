import { seal, type SubjectRef } from '@iss/domain';
import type { SnapshotRecord } from '@iss/persistence';
import { gatewayEnv } from '@iss/platform';
import { Registry } from 'prom-client';
import { Work } from '../../../runtime/work';
import { SnapshotVerifier } from './snapshot-verifier';

const SUBJECT = { subjectType: 'entity', subjectId: 'a' };

function snapshotOf(snapshotVersion: number): SnapshotRecord {
  const { text, hash } = seal({ snapshot_id: 'x', snapshot_version: snapshotVersion, subject: {} });
  const createdAt = new Date(0);
  const times = { generatedAt: '2026-01-15T09:30:00Z', changeKind: 'change', createdAt } as const;
  return {
    ...SUBJECT,
    ...times,
    snapshotId: 'x',
    snapshotVersion,
    envelope: text,
    erasure: null,
    envelopeHash: hash,
    prevHash: null,
    writtenBy: null,
    writeRequestId: null,
  };
}

/** Returns a verifier for a chain that is read one snapshot at a time. Calls `read` for each. */
function verifierOf(read: () => void, verifyDeadlineMs = 60_000): SnapshotVerifier {
  const settings = gatewayEnv({
    DATABASE_URL: 'postgres://localhost/x',
    AUTH_MODE: 'disabled',
    SECRETS_KEYS: `k:${Buffer.alloc(32).toString('base64')}`,
    VERIFY_DEADLINE_MS: String(verifyDeadlineMs),
  });
  const lineage = {
    below: async (_subject: SubjectRef, version: number): Promise<SnapshotRecord[]> => {
      read();
      return [snapshotOf(version - 1)];
    },
  };
  const work = new Work(settings, { charge: () => undefined }, new Registry());
  const stub = (members: object = {}) => Object.assign(Object.create(null), members);
  return new SnapshotVerifier(stub(lineage), work, stub(), settings);
}

describe('SnapshotVerifier.links', () => {
  it('returns the requested number of links, or all if there are fewer', async () => {
    const verifier = verifierOf(() => undefined);
    const asker = { principalId: 'a' };
    await expect(verifier.links(asker, SUBJECT, 10, 4)).resolves.toHaveLength(4);
    await expect(verifier.links(asker, SUBJECT, 10, 100)).resolves.toHaveLength(9);
  });

  it('stops once the caller has disconnected', async () => {
    const asker = { principalId: 'a', isGone: false };
    let reads = 0;
    const verifier = verifierOf(() => {
      reads += 1;
      asker.isGone = reads === 3;
    });
    await expect(verifier.links(asker, SUBJECT, 100, 99)).rejects.toMatchObject({ code: 'unavailable' });
    expect(reads).toBe(3);
  });

  it('stops at VERIFY_DEADLINE_MS, and reports how many links it verified', async () => {
    let nowMs = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const verifier = verifierOf(() => (nowMs += 400), 1_000);
    await expect(verifier.links({ principalId: 'a' }, SUBJECT, 100, 99)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('verified 3 links within 1000 ms'),
    });
    clock.mockRestore();
  });
});
