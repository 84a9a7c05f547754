import type { Command } from '../command';
import { profileNameOf, PROFILE_OPTION } from '../service/caller';
import { Profiles } from '../service/profiles';

/** Forgets a profile with its tokens. */
export const logout: Command = {
  about: 'An access token that somebody copied is good until it expires: the service keeps no list of tokens.',
  options: { ...PROFILE_OPTION },
  async run(options, context) {
    const name = profileNameOf(options, context);
    const was = new Profiles(context.settings.configFolder).remove(name);
    context.print(was ? `The profile ${name} is gone, with its tokens.` : `There was no profile ${name}.`);
  },
};
