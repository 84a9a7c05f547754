import { type Command, hasFlag, textOf, UsageError } from '../command';
import { asCaller, claimsOf, profileNameOf, PROFILE_OPTION } from '../service/caller';
import { Profiles } from '../service/profiles';
import { visible } from '../visible';

/** Makes a profile: which service, and as whom. */
export const login: Command = {
  about: 'The profile is kept in a file that only you may read, in XDG_CONFIG_HOME (~/.config/iss/profiles.json).',
  options: {
    'base-url': { value: 'URL', about: 'The service: ISS_BASE_URL, or the profile’s, where it is left out.' },
    'token-stdin': { about: 'Takes an access token from standard input.' },
    ...PROFILE_OPTION,
  },
  async run(options, context) {
    const { settings, print, input } = context;
    const name = profileNameOf(options, context);
    const profiles = new Profiles(settings.configFolder);
    const known = profiles.read(name);
    const baseUrl = serviceOf(textOf(options, 'base-url') ?? settings.baseUrl ?? known?.baseUrl);
    if (!hasFlag(options, 'token-stdin')) throw new UsageError('Give an access token: iss login --token-stdin < FILE.');
    const accessToken = (await input()).trim();
    if (accessToken === '') throw new UsageError('There is no token on standard input.');
    const tenant = known?.baseUrl === baseUrl ? known.tenant : null;
    profiles.write(name, { baseUrl, tenant, accessToken, refresh: null });
    const { sub } = claimsOf(accessToken);
    // What is no good is said at once, and kept from nobody.
    await asCaller({ profile: name }, context, async ({ iss }) => {
      for await (const one of iss.tenants()) {
        void one;
        break;
      }
    });
    print(`Signed in at ${baseUrl}${typeof sub === 'string' ? ` as ${visible(sub)}` : ''}, profile ${name}.`);
  },
};

function serviceOf(text: string | undefined): string {
  if (text === undefined) throw new UsageError('Which service? Name --base-url URL, as https://identity.example.com.');
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new UsageError('--base-url takes an http(s) URL.');
  return text.replace(/\/+$/, '');
}
