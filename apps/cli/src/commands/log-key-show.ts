import { createSigner } from '@iss/tlog';
import { type Command, textOf } from '../command';
import { readWhole } from '../files';

const MAX_KEY_FILE = 10_000;

export const showLogKey: Command = {
  arguments: [{ name: 'file', about: 'File of the signing key.' }],
  options: {},
  async run(options, { print }) {
    const skey = readWhole(textOf(options, 'file') ?? '', 'signing key', MAX_KEY_FILE)
      .toString('utf8')
      .trim();
    print((await createSigner(skey)).verifierKey);
  },
};
