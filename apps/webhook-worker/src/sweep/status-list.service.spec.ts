import { randomBytes } from 'node:crypto';
import { createIssuingKey, publicJwkOf, readStatusList } from '@iss/attestation';
import type { DueStatusList, SignedStatusList } from '@iss/persistence';
import { createLogger, SecretBox } from '@iss/platform';
import { waitFor } from '../../../../tools/testing/wait-for';
import { StatusListService } from './status-list.service';

const ISSUER = 'https://iss.example/tenants/acme';
const URI = `${ISSUER}/status-lists/1`;
const HOUR_MS = 3_600_000;

it('marks all changes, and signs each due list, half of its validity before it ends', async () => {
  const secretBox = SecretBox.fromKeyRing(`test:${randomBytes(32).toString('base64')}`);
  const { kid, publicKey, privateKey } = await createIssuingKey();
  // The clock of the previous signer was an hour ahead.
  const times = [new Date(Date.now() - HOUR_MS), new Date(Date.now() + HOUR_MS)];
  const due = times.map((signedAt): DueStatusList => ({
    ...{ kid, publicKey, issuer: ISSUER, sealed: secretBox.seal(privateKey, kid), listId: 'list', uri: URI, signedAt },
    statuses: [{ idx: 5, status: 'superseded' }],
  }));
  const signed: SignedStatusList[] = [];
  const marked: number[] = [];
  const counted = jest.fn();
  const left = [...due];
  const service = new StatusListService(
    {
      mark: async (limit) => (marked.push(limit) < 3 ? limit : 0),
      signNext: async (sign) => {
        const list = left.shift();
        if (list === undefined) return false;
        expect(marked).toHaveLength(3);
        signed.push(await sign(list));
        return true;
      },
    },
    { statusListSigned: counted },
    { secretBox, sweepIntervalMs: 1_000_000 },
    createLogger({ name: 'test', level: 'silent' }),
  );
  const startedAt = new Date();
  service.start();
  await waitFor(() => signed.length === due.length);
  await service.stop();
  const [first, second] = signed;
  expect(first?.signedAt.getTime()).toBeGreaterThanOrEqual(startedAt.getTime());
  expect(second?.signedAt).toEqual(times[1]);
  const keys = { issuer: ISSUER, jwks: [publicJwkOf({ kid, publicKey })], roots: [] };
  for (const { token, signedAt, dueAt } of signed) {
    const list = await readStatusList(token, URI, keys, null, signedAt);
    expect([0, 4, 5, 6].map((idx) => list.at(idx))).toEqual([0, 0, 3, 0]);
    expect(Math.floor(list.issuedAt.getTime() / 1000)).toBe(Math.floor(signedAt.getTime() / 1000));
    expect(dueAt.getTime() - signedAt.getTime()).toBe(12 * HOUR_MS);
  }
  expect(counted).toHaveBeenCalledTimes(2);
});
