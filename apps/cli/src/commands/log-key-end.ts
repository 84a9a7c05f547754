import { asOwner, LogKeyStore } from '@iss/persistence';
import { parseVerifierKey } from '@iss/tlog';
import { type Command, Failure, textOf } from '../command';
import { DATABASE_OPTION, logKeyOf, nameOf, VKEY_ARGUMENT } from '../log-keys';

export const endLogKey: Command = {
  about:
    'First remove the key from the workers: a worker with an ended key signs nothing. Signatures of the key stay verifiable. The last Ed25519 key of a log cannot be ended.',
  arguments: [VKEY_ARGUMENT],
  options: DATABASE_OPTION,
  async run(options, { env, print }) {
    const vkey = logKeyOf(options);
    await asOwner(textOf(options, 'database-url') ?? (await env()).databaseUrl, async (sql) => {
      const keys = new LogKeyStore(sql);
      const others = (await keys.live()).filter((one) => one !== vkey && nameOf(one) === nameOf(vkey));
      if (!others.some((one) => parseVerifierKey(one).type === 'ed25519')) {
        throw new Failure('This is the last Ed25519 key of the log. Announce its successor first: iss log-key add.');
      }
      if (!(await keys.end(vkey))) throw new Failure('The log has no such key, or the key has already ended.');
    });
    print('The key is ended, and /log/keys shows when. A worker that still has it signs nothing.');
  },
};
