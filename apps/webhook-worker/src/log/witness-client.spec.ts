import {
  createSigner,
  createVerifier,
  formatCheckpoint,
  formatSignatureLines,
  generateKeys,
  signNote,
} from '@iss/tlog';
import { WitnessClient } from './witness-client';

const ORIGIN = 'log.example/test';
const checkpointOf = (origin: string) => ({ origin, size: 1, root: new Uint8Array(32), extensionLines: [] });

const fetched = jest.spyOn(globalThis, 'fetch');
afterAll(() => fetched.mockRestore());

/** A client of a witness that gives this answer, and the keys of the log and of the witness. */
async function clientOf(answer: (init: RequestInit) => Response | Promise<Response>) {
  const [log, witness] = await Promise.all([
    generateKeys(ORIGIN, 'ed25519').then(({ signingKey }) => createSigner(signingKey)),
    generateKeys('witness.example', 'ed25519-cosignature').then(({ signingKey }) => createSigner(signingKey)),
  ]);
  fetched.mockImplementation(async (_, init = {}) => answer(init));
  const client = new WitnessClient('http://witness.example', [{ name: 'w', key: witness.key, url: null }]);
  const noteOf = (origin: string) => signNote({ text: formatCheckpoint(checkpointOf(origin)) }, [log], 0);
  return { client, log, witness, noteOf };
}

/** Asks for a cosignature of a checkpoint with one entry. */
async function submit(answer: (init: RequestInit) => Response | Promise<Response>) {
  const { client, noteOf } = await clientOf(answer);
  return client.submit({ checkpoint: checkpointOf(ORIGIN), note: await noteOf(ORIGIN), proofFrom: async () => [] });
}

it.each([
  ['with another status', () => new Response('2\n', { status: 404 }), 'it answered 404: 2'],
  ['longer than 128 KiB', () => new Response('x'.repeat(128 * 1024 + 1)), 'it answers more than 131072 bytes'],
  ['with the same wrong size three times', () => new Response('1\n', { status: 409 }), 'at each of 3 attempts'],
])('refuses an answer %s', async (_, answer, message) => {
  await expect(submit(answer)).rejects.toThrow(message);
});

it('follows no redirect', async () => {
  await expect(submit(() => new Response('', { status: 500 }))).rejects.toThrow();
  expect(fetched).toHaveBeenLastCalledWith(expect.anything(), expect.objectContaining({ redirect: 'error' }));
});

it('accepts a cosignature only if it has a time', async () => {
  for (const [time, outcome] of [
    [1, 'cosigned'],
    [0, 'its cosignature has no time'],
  ] as const) {
    const asked = await clientOf(
      async () =>
        new Response(formatSignatureLines([await asked.witness.sign(formatCheckpoint(checkpointOf(ORIGIN)), time)])),
    );
    const note = await asked.noteOf(ORIGIN);
    const submission = { checkpoint: checkpointOf(ORIGIN), note, proofFrom: async () => [] };
    const said = await asked.client.submit(submission).then(
      ({ kind }) => kind,
      (error: Error) => error.message,
    );
    expect(said).toBe(outcome);
  }
});

it('refuses a newest checkpoint of another log', async () => {
  const shown = async (origin: string) => {
    const asked = await clientOf(async () => new Response(await asked.noteOf(origin)));
    return asked.client.newest(ORIGIN, [createVerifier(asked.log.key)]);
  };
  expect(await shown(ORIGIN)).toMatchObject({ origin: ORIGIN, size: 1 });
  await expect(shown('log.example/other')).rejects.toThrow('it shows a checkpoint of log.example/other');
});

it('aborts its requests when it is closed', async () => {
  const { client } = await clientOf(
    ({ signal }) => new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted')))),
  );
  const asking = client.newest(ORIGIN, []);
  client.close();
  await expect(asking).rejects.toThrow('aborted');
});
