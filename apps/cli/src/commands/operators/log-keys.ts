import { asOwner, LogKeyStore, LogRestartStore } from '@iss/persistence';
import { parseNote, parseVerifierKey, TlogError, type VerifierKey } from '@iss/tlog';
import { Failure, UsageError, wholeNumber } from '../../command';
import { defineCommand } from '../../define';
import { DATABASE_OPTION, logKeyOf, nameOfKey } from '../../doctor/log-keys';
import { visible } from '../../visible';

/** The number of checkpoints per statement. */
const PAGE = 500;

const VKEY = {
  about: 'Verifier key, as printed by iss log-key.',
  read: logKeyOf,
} as const;

export const logKeyAdd = defineCommand({
  about:
    'Announce a key before the workers get it, so that verifiers can fetch it from /log/keys first. The log entry log.key_announced names the key and the login. Workers sign with announced keys only. The first keys of a log need no announcement.',
  arguments: { vkey: VKEY },
  options: DATABASE_OPTION,
  async run({ vkey, 'database-url': databaseUrl }, { env, print }) {
    const isNew = await asOwner(databaseUrl ?? (await env()).databaseUrl, async (sql) => {
      const keys = new LogKeyStore(sql);
      const origin = (await new LogRestartStore(sql).before()).origin ?? nameOfKey((await keys.live())[0]);
      if (origin !== null && nameOfKey(vkey) !== origin) {
        throw new Failure(`The log is named ${visible(origin)}. Its keys must have the same name.`);
      }
      return keys.announce(vkey);
    });
    print(
      isNew
        ? 'The key is announced, and /log/keys lists it. Workers can use it as soon as the log has the entry.'
        : 'The key was already announced.',
    );
  },
});

export const logKeyEnd = defineCommand({
  about:
    'First remove the key from the workers: a worker with an ended key signs nothing. Signatures of the key stay verifiable. The last Ed25519 key of a log cannot be ended.',
  arguments: { vkey: VKEY },
  options: DATABASE_OPTION,
  async run({ vkey, 'database-url': databaseUrl }, { env, print }) {
    await asOwner(databaseUrl ?? (await env()).databaseUrl, async (sql) => {
      const keys = new LogKeyStore(sql);
      const others = (await keys.live()).filter((one) => one !== vkey && nameOfKey(one) === nameOfKey(vkey));
      if (!others.some((one) => parseVerifierKey(one).type === 'ed25519')) {
        throw new Failure('This is the last Ed25519 key of the log. Announce its successor first: iss log-key add.');
      }
      if (!(await keys.end(vkey))) throw new Failure('The log has no such key, or the key has already ended.');
    });
    print('The key is ended, and /log/keys shows when. A worker that still has it signs nothing.');
  },
});

const SIZE = wholeNumber(0, Number.MAX_SAFE_INTEGER);

export const logKeyMark = defineCommand({
  usage: '(SIZE | --from SIZE --to SIZE) [--vkey KEY] [--database-url URL]',
  about:
    'A marked checkpoint stays stored but is no longer served, and no worker continues from it. iss audit lists it with the login that marked it. If several keys signed one size, name the wrong key with --vkey.',
  arguments: { size: { about: 'Number of entries of the checkpoints.', isOptional: true } },
  options: {
    from: { value: 'SIZE', about: 'Smallest size.', read: SIZE },
    to: { value: 'SIZE', about: 'Largest size.', read: SIZE },
    vkey: {
      value: 'KEY',
      about: 'Only checkpoints that this verifier key signed.',
      read: verifierKeyOf,
    },
    ...DATABASE_OPTION,
  },
  async run({ vkey, 'database-url': databaseUrl, ...sizes }, { env, print }) {
    const { from, to } = rangeOf(sizes);
    const marked = await asOwner(databaseUrl ?? (await env()).databaseUrl, async (sql) => {
      const keys = new LogKeyStore(sql);
      let [after, count] = [0, 0];
      for (;;) {
        const page = await keys.checkpoints(from, to, after, PAGE);
        const chosen = page.filter(({ note }) => vkey === undefined || isSignedBy(note, vkey));
        count += await keys.mark(chosen.map(({ checkpointId }) => checkpointId));
        after = page.at(-1)?.checkpointId ?? after;
        if (page.length < PAGE) return count;
      }
    });
    if (marked === 0) throw new Failure('No unmarked checkpoint matches.');
    print(`${marked} ${marked === 1 ? 'checkpoint is' : 'checkpoints are'} marked as signed by mistake.`);
  },
});

function rangeOf({ size, from, to }: { size: string | undefined; from: number | undefined; to: number | undefined }) {
  if (size !== undefined && /^\d{1,15}$/.test(size) && from === undefined && to === undefined) {
    return { from: Number(size), to: Number(size) };
  }
  if (size === undefined && from !== undefined && to !== undefined && from <= to) return { from, to };
  throw new UsageError('Name a SIZE (a whole number), or --from SIZE and --to SIZE.');
}

function verifierKeyOf(vkey: string): VerifierKey {
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
