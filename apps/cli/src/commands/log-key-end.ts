import { asOwner, LogKeyStore } from '@iss/persistence';
import { parseVerifierKey } from '@iss/tlog';
import { type Command, Failure, textOf } from '../command';
import { DATABASE_OPTION, logKeyOf, nameOf, VKEY_ARGUMENT } from '../log-keys';

/** Ends a verifier key. Its signatures stay verifiable. */
export const endLogKey: Command = {
  about:
    'First take the key out of LOG_SIGNING_KEY or LOG_PQ_SIGNING_KEY of every worker: a worker that still has it signs nothing. ' +
    'Signatures of the key stay verifiable. The last key of a log cannot be ended.',
  arguments: [VKEY_ARGUMENT],
  options: DATABASE_OPTION,
  async run(options, { env, print }) {
    const vkey = logKeyOf(options);
    await asOwner(textOf(options, 'database-url') ?? (await env()).databaseUrl, async (sql) => {
      const keys = new LogKeyStore(sql);
      const others = (await keys.live()).filter((one) => one !== vkey && nameOf(one) === nameOf(vkey));
      if (!others.some((one) => parseVerifierKey(one).type === 'ed25519')) {
        throw new Failure(
          'No other Ed25519 key of this log is announced. Announce its successor first: iss log-key add.',
        );
      }
      if (!(await keys.end(vkey))) throw new Failure('That is no key of the log, or it was ended before.');
    });
    print('The key is ended: /log/keys says until when it was used. A worker that still has it signs nothing.');
  },
};
