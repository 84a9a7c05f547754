import type { KnownProof, InclusionOfFact } from '../../log/log-proof.service';
import { JsonText } from '../../http/answer/json-text';
import { RecentProofs } from './recent-proofs';

const entryOf = (logIndex: number): InclusionOfFact['entry'] => ({
  logIndex,
  salt: Buffer.from([logIndex]),
  text: `{"index":${logIndex}}`,
  keys: null,
  leaf: new Uint8Array(32),
});
const proofOf = (entry: InclusionOfFact['entry'], checkpoint: string): InclusionOfFact => ({
  ...{ origin: 'log.example/test', entry, size: 9, inclusion: [], checkpoint, view: null },
});
const answerOf = ({ entry, checkpoint }: InclusionOfFact): JsonText => new JsonText(`${entry.text} ${checkpoint}`);

/** Answers like a log that currently has this proof. Also returns the known proof that `read` got. */
async function ask(recent: RecentProofs, proof: InclusionOfFact) {
  const told: (KnownProof | undefined)[] = [];
  const read = async (known: KnownProof | undefined): Promise<InclusionOfFact | null> => {
    told.push(known);
    return known?.entry === proof.entry && known.checkpoint === proof.checkpoint ? null : proof;
  };
  return { text: (await recent.answer('id', read, answerOf)).text, known: told[0] };
}

it('RecentProofs checks each time that its proof is current, and returns the same response', async () => {
  const recent = new RecentProofs();
  const proof = proofOf(entryOf(7), 'note');
  expect(await ask(recent, proof)).toEqual({ text: '{"index":7} note', known: undefined });
  expect(await ask(recent, proof)).toEqual({
    text: '{"index":7} note',
    known: { entry: proof.entry, checkpoint: 'note' },
  });
});

it('RecentProofs returns a new proof as soon as there is one', async () => {
  const recent = new RecentProofs();
  const entry = entryOf(7);
  await ask(recent, proofOf(entry, 'note'));
  expect((await ask(recent, proofOf(entry, 'newer note'))).text).toBe('{"index":7} newer note');
  expect((await ask(recent, proofOf(entryOf(8), 'newer note'))).text).toBe('{"index":8} newer note');
  expect((await ask(recent, proofOf(entry, 'newer note'))).known?.entry.logIndex).toBe(8);
});

it('RecentProofs refuses again after a refusal, even once a proof is known', async () => {
  const recent = new RecentProofs();
  const refuse = async (): Promise<never> => {
    throw new Error('refused');
  };
  await expect(recent.answer('id', refuse, answerOf)).rejects.toThrow('refused');
  await ask(recent, proofOf(entryOf(7), 'note'));
  await expect(recent.answer('id', refuse, answerOf)).rejects.toThrow('refused');
});
