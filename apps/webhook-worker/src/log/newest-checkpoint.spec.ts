import { createVerifier, generateKeys, createSigner, formatCheckpoint, emptyRoot, openNote, signNote } from '@iss/tlog';
import { checkpointHeader, NewestCheckpoint } from './newest-checkpoint';

const signer = async (name: string, type: Parameters<typeof generateKeys>[1]) =>
  createSigner((await generateKeys(name, type)).signingKey);
const text = formatCheckpoint({ origin: 'log.example', size: 0, root: emptyRoot(), extensionLines: [] });
const decoded = (header: string | null) => Buffer.from(header ?? '', 'base64').toString();

it('checkpointHeader contains only the Ed25519 signatures of the log and of witnesses', async () => {
  const [log, witness, pq] = await Promise.all([
    signer('log.example', 'ed25519'),
    signer('witness.example', 'ed25519-cosignature'),
    signer('log.example', 'ml-dsa-44-cosignature'),
  ]);
  const note = decoded(checkpointHeader(await signNote({ text }, [log, pq, witness], 1)));
  const { verified, unknown } = await openNote(note, [createVerifier(log.key), createVerifier(witness.key)]);
  expect([verified.length, unknown.length]).toEqual([2, 0]);
  expect(checkpointHeader(await signNote({ text }, [pq], 1))).toBeNull();
});

it('checkpointHeader returns null beyond 4 KiB', async () => {
  const witnesses = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => signer(`w${index}.example`, 'ed25519-cosignature')));
  expect(checkpointHeader(await signNote({ text }, await witnesses(15), 1))?.length).toBeLessThanOrEqual(4096);
  expect(checkpointHeader(await signNote({ text }, await witnesses(40), 1))).toBeNull();
});

it('NewestCheckpoint reads once for concurrent deliveries, and returns null if the read fails', async () => {
  const note = await signNote({ text }, [await signer('log.example', 'ed25519')], 1);
  let reads = 0;
  const one = new NewestCheckpoint({
    newest: async () => ({ origin: 'log.example', size: 0, note, signedAt: new Date(reads++) }),
  });
  const headers = await Promise.all(Array.from({ length: 1_000 }, () => one.header()));
  expect([new Set(headers).size, decoded(headers[0] ?? null), reads]).toEqual([1, note, 1]);
  const away = new NewestCheckpoint({ newest: () => Promise.reject(new Error('away')) });
  expect(await away.header()).toBeNull();
});
