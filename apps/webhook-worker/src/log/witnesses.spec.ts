import { createSigner, createVerifier, formatCheckpoint, generateKeys, parsePolicy, signNote } from '@iss/tlog';
import { Witnesses } from './witnesses';

const ORIGIN = 'log.example/test';

it('asks a witness that fails again after pauses that double, up to five seconds', async () => {
  const { signingKey, verifierKey } = await generateKeys(ORIGIN, 'ed25519');
  const cosigner = await generateKeys('witness.example', 'ed25519-cosignature');
  // Nobody listens on this port.
  const line = `witness away ${cosigner.verifierKey} http://127.0.0.1:9`;
  const policy = parsePolicy(`log ${verifierKey}\n${line}\nquorum away\n`);
  const failed = jest.fn();
  const witnesses = new Witnesses(policy, ORIGIN, [createVerifier(verifierKey)], failed, () => undefined);
  const checkpoint = { origin: ORIGIN, size: 1, root: new Uint8Array(32), extensionLines: [] };
  const note = await signNote({ text: formatCheckpoint(checkpoint) }, [await createSigner(signingKey)], 0);

  let nowMs = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const failsAfter = async (ms: number): Promise<boolean> => {
    nowMs += ms;
    const before = failed.mock.calls.length;
    await witnesses.collect({ checkpoint, note, proofFrom: async () => [] }, new Map(), async () => false);
    return failed.mock.calls.length > before;
  };
  expect(await failsAfter(0)).toBe(true);
  for (const pauseMs of [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]) {
    expect([await failsAfter(pauseMs - 1), await failsAfter(1)]).toEqual([false, true]);
  }
  clock.mockRestore();
});
