import { asOwner, LogKeyStore } from '@iss/persistence';
import { parseNote, parseVerifierKey, TlogError, type VerifierKey } from '@iss/tlog';
import { type Command, Failure, numberOf, type Options, textOf, UsageError } from '../command';
import { DATABASE_OPTION } from '../log-keys';

/** The number of checkpoints per statement. */
const PAGE = 500;

export const markCheckpoints: Command = {
  usage: '(SIZE | --from SIZE --to SIZE) [--vkey KEY] [--database-url URL]',
  about:
    'A marked checkpoint stays stored but is no longer served, and no worker continues from it. iss audit lists it with the login that marked it. If several keys signed one size, name the wrong key with --vkey.',
  arguments: [{ name: 'size', about: 'Number of entries of the checkpoints.', isOptional: true }],
  options: {
    from: { value: 'SIZE', about: 'Smallest size.' },
    to: { value: 'SIZE', about: 'Largest size.' },
    vkey: { value: 'KEY', about: 'Only checkpoints that this verifier key signed.' },
    ...DATABASE_OPTION,
  },
  async run(options, { env, print }) {
    const { from, to } = sizesOf(options);
    const vkey = textOf(options, 'vkey');
    const key = vkey === undefined ? null : keyOf(vkey);
    const marked = await asOwner(textOf(options, 'database-url') ?? (await env()).databaseUrl, async (sql) => {
      const keys = new LogKeyStore(sql);
      let [after, count] = [0, 0];
      for (;;) {
        const page = await keys.checkpoints(from, to, after, PAGE);
        const chosen = page.filter(({ note }) => key === null || isSignedBy(note, key));
        count += await keys.mark(chosen.map(({ checkpointId }) => checkpointId));
        after = page.at(-1)?.checkpointId ?? after;
        if (page.length < PAGE) return count;
      }
    });
    if (marked === 0) throw new Failure('No unmarked checkpoint matches.');
    print(`${marked} ${marked === 1 ? 'checkpoint is' : 'checkpoints are'} marked as signed by mistake.`);
  },
};

function sizesOf(options: Options): { from: number; to: number } {
  const [least, most] = [0, Number.MAX_SAFE_INTEGER];
  const [from, to] = [numberOf(options, 'from', [least, most]), numberOf(options, 'to', [least, most])];
  const size = textOf(options, 'size');
  if (size !== undefined && /^\d{1,15}$/.test(size) && from === undefined && to === undefined) {
    return { from: Number(size), to: Number(size) };
  }
  if (size === undefined && from !== undefined && to !== undefined && from <= to) return { from, to };
  throw new UsageError('Name a SIZE (a whole number), or --from SIZE and --to SIZE.');
}

function keyOf(vkey: string): VerifierKey {
  try {
    return parseVerifierKey(vkey);
  } catch (error) {
    if (error instanceof TlogError) throw new UsageError(error.message);
    throw error;
  }
}

/** Returns whether the note has a line of this key. A note that does not parse has none. */
function isSignedBy(note: string, { name, keyId }: VerifierKey): boolean {
  try {
    return parseNote(note).signatures.some((line) => line.name === name && line.keyId === keyId);
  } catch (error) {
    if (error instanceof TlogError) return false;
    throw error;
  }
}
