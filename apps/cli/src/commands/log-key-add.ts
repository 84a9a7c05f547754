import { asOwner, LogKeyStore, LogRestartStore } from '@iss/persistence';
import { type Command, Failure, textOf } from '../command';
import { visible } from '../visible';
import { DATABASE_OPTION, logKeyOf, nameOf, VKEY_ARGUMENT } from '../log-keys';

export const addLogKey: Command = {
  about:
    'Announce a key before the workers get it, so that verifiers can fetch it from /log/keys first. The log entry log.key_announced names the key and the login. Workers sign with announced keys only. The first keys of a log need no announcement.',
  arguments: [VKEY_ARGUMENT],
  options: DATABASE_OPTION,
  async run(options, { env, print }) {
    const vkey = logKeyOf(options);
    const isNew = await asOwner(textOf(options, 'database-url') ?? (await env()).databaseUrl, async (sql) => {
      const keys = new LogKeyStore(sql);
      const origin = (await new LogRestartStore(sql).before()).origin ?? nameOf((await keys.live())[0]);
      if (origin !== null && nameOf(vkey) !== origin) {
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
};
