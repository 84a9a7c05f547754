import {
  createSigner,
  createVerifier,
  formatCheckpoint,
  formatSignatureLines,
  generateKeys,
  parsePolicy,
  signNote,
} from '@iss/tlog';
import { Witnesses } from './witnesses';

const ORIGIN = 'log.example/test';

it('doubles the pause after each failure of a witness up to five seconds, and resets it after a success', async () => {
  const { signingKey, verifierKey } = await generateKeys(ORIGIN, 'ed25519');
  const cosigner = await generateKeys('witness.example', 'ed25519-cosignature');
  // Nobody listens on this port.
  const line = `witness away ${cosigner.verifierKey} http://127.0.0.1:9`;
  const policy = parsePolicy(`log ${verifierKey}\n${line}\nquorum away\n`);
  const answered = jest.fn();
  const witnesses = new Witnesses(policy, ORIGIN, [createVerifier(verifierKey)], answered, () => undefined);
  const checkpoint = { origin: ORIGIN, size: 1, root: new Uint8Array(32), extensionLines: [] };
  const note = await signNote({ text: formatCheckpoint(checkpoint) }, [await createSigner(signingKey)], 0);

  let nowMs = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const isAnsweredAfter = async (ms: number): Promise<boolean> => {
    nowMs += ms;
    const before = answered.mock.calls.length;
    await witnesses.collect({ checkpoint, note, proofFrom: async () => [] }, new Map(), async () => false);
    return answered.mock.calls.length > before;
  };
  expect(await isAnsweredAfter(0)).toBe(true);
  for (const pauseMs of [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]) {
    expect([await isAnsweredAfter(pauseMs - 1), await isAnsweredAfter(1)]).toEqual([false, true]);
  }

  const answer = formatSignatureLines([
    await (await createSigner(cosigner.signingKey)).sign(formatCheckpoint(checkpoint), 1),
  ]);
  const fetched = jest.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(answer));
  expect(await isAnsweredAfter(5_000)).toBe(true);
  expect(answered).toHaveBeenLastCalledWith('away', 'cosigned');
  fetched.mockRestore();
  expect(await isAnsweredAfter(0)).toBe(true);
  expect([await isAnsweredAfter(249), await isAnsweredAfter(1)]).toEqual([false, true]);
  clock.mockRestore();
});

it('sends no second request to a witness that has not answered yet', async () => {
  const { signingKey, verifierKey } = await generateKeys(ORIGIN, 'ed25519');
  const cosigner = await generateKeys('witness.example', 'ed25519-cosignature');
  const policy = parsePolicy(
    `log ${verifierKey}\nwitness slow ${cosigner.verifierKey} http://witness.example\nquorum slow\n`,
  );
  const witnesses = new Witnesses(
    policy,
    ORIGIN,
    [createVerifier(verifierKey)],
    () => undefined,
    () => undefined,
  );
  const checkpoint = { origin: ORIGIN, size: 1, root: new Uint8Array(32), extensionLines: [] };
  const note = await signNote({ text: formatCheckpoint(checkpoint) }, [await createSigner(signingKey)], 0);
  const collect = () =>
    witnesses.collect({ checkpoint, note, proofFrom: async () => [] }, new Map(), async () => false);
  let answer = (_: Response): void => undefined;
  const fetched = jest.spyOn(globalThis, 'fetch').mockReturnValue(new Promise((resolve) => (answer = resolve)));
  const first = collect();
  await collect();
  expect(fetched).toHaveBeenCalledTimes(1);
  answer(new Response('', { status: 500 }));
  await first;
  fetched.mockRestore();
});
