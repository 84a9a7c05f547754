import { asOwner, LogKeyStore, LogRestartStore } from '@iss/persistence';
import { type Command, Failure, textOf } from '../command';
import { visible } from '../visible';
import { DATABASE_OPTION, logKeyOf, nameOf, VKEY_ARGUMENT } from '../log-keys';

/** Announces a verifier key: workers may sign with it once the log has the entry that announces it. */
export const addLogKey: Command = {
  about:
    'Announce a key before the workers get it, so that everybody who verifies can take it from /log/keys first. The entry ' +
    'log.key_announced names the key and the login that announced it. The first keys of a log need no announcement.',
  arguments: [VKEY_ARGUMENT],
  options: DATABASE_OPTION,
  async run(options, { env, print }) {
    const vkey = logKeyOf(options);
    const isNew = await asOwner(textOf(options, 'database-url') ?? (await env()).databaseUrl, async (sql) => {
      const keys = new LogKeyStore(sql);
      const origin = (await new LogRestartStore(sql).before()).origin ?? nameOf((await keys.live())[0]);
      if (origin !== null && nameOf(vkey) !== origin) {
        throw new Failure(`The log is called ${visible(origin)}: a key of another name cannot sign it.`);
      }
      return keys.announce(vkey);
    });
    print(
      isNew
        ? 'The key is announced: /log/keys lists it. Workers sign with it once the log has the entry, in a moment.'
        : 'The key was announced already.',
    );
  },
};
