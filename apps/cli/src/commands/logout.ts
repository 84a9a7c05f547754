import type { Command } from '../command';
import { profileNameOf, PROFILE_OPTION } from '../service/caller';
import { Profiles } from '../service/profiles';

export const logout: Command = {
  about: 'A copied access token stays valid until it expires, because the service keeps no list of tokens.',
  options: { ...PROFILE_OPTION },
  async run(options, context) {
    const name = profileNameOf(options, context);
    const was = new Profiles(context.settings.configFolder).remove(name);
    context.print(was ? `Deleted the profile ${name} and its tokens.` : `There is no profile ${name}.`);
  },
};
