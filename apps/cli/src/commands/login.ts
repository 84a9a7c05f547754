import { IdentityState } from '@identity-state/client';
import { type Command, type CommandContext, hasFlag, type Options, textOf, UsageError } from '../command';
import { baseUrlOf } from '../service/base-url';
import { claimsOf, profileNameOf, PROFILE_OPTION } from '../service/caller';
import { failureOf } from '../service/failure';
import { type Profile, Profiles } from '../service/profiles';
import { discover, issuerOf, signInByBrowser, signInByDevice } from '../service/sign-in';
import { visible } from '../visible';

/** As the development issuer of `npm start` has it. */
const CLIENT_ID = 'iss';

/** Makes a profile: which service, and as whom. */
export const login: Command = {
  about:
    'In the browser (authorization code with PKCE, over loopback), with --device on another one where the issuer has that flow, or ' +
    'with a token that you have. The profile is kept in a file that only you may read, profiles.json in XDG_CONFIG_HOME/iss ' +
    '(~/.config/iss); an access token that expires is made anew where the issuer gave a refresh token.',
  usage: '[--base-url URL] [--device | --token-stdin] [--issuer URL] [--client-id ID] [--profile NAME]',
  options: {
    'base-url': { value: 'URL', about: 'The service: ISS_BASE_URL, or the profile’s, where it is left out.' },
    device: { about: 'Signs you in on another device, by a code.' },
    'token-stdin': { about: 'Takes an access token from standard input.' },
    issuer: { value: 'URL', about: 'Who issues tokens: the service names it where it is left out.' },
    'client-id': { value: 'ID', about: `As which client of the issuer: “${CLIENT_ID}” unless said otherwise.` },
    ...PROFILE_OPTION,
  },
  async run(options, context) {
    const name = profileNameOf(options, context);
    const profiles = new Profiles(context.settings.configFolder);
    const known = profiles.read(name);
    const baseUrl = serviceOf(options, context, known);
    const tokens = await tokensOf(options, context, baseUrl);
    // A token that the service refuses replaces none.
    await requireAccepted(baseUrl, tokens.accessToken);
    const tenant = known?.baseUrl === baseUrl ? known.tenant : null;
    profiles.write(name, { baseUrl, tenant, ...tokens });
    const { sub } = claimsOf(tokens.accessToken);
    context.print(`Signed in at ${baseUrl}${typeof sub === 'string' ? ` as ${visible(sub)}` : ''}, profile ${name}.`);
  },
};

async function tokensOf(
  options: Options,
  context: CommandContext,
  baseUrl: string,
): Promise<Pick<Profile, 'accessToken' | 'refresh'>> {
  if (hasFlag(options, 'token-stdin')) {
    const accessToken = (await context.input()).trim();
    if (accessToken === '' || /\s/.test(accessToken)) throw new UsageError('Standard input holds no access token.');
    return { accessToken, refresh: null };
  }
  const clientId = textOf(options, 'client-id') ?? CLIENT_ID;
  const issuer = await discover(textOf(options, 'issuer') ?? (await issuerOf(baseUrl)), clientId);
  const signIn = hasFlag(options, 'device') ? signInByDevice : signInByBrowser;
  const { accessToken, refreshToken } = await signIn(issuer, context);
  const { tokenEndpoint } = issuer;
  return { accessToken, refresh: refreshToken === null ? null : { token: refreshToken, tokenEndpoint, clientId } };
}

function serviceOf(options: Options, { settings }: CommandContext, known: Profile | null): string {
  const named = textOf(options, 'base-url');
  if (named !== undefined) return baseUrlOf('--base-url', named);
  if (settings.baseUrl !== undefined) return baseUrlOf('ISS_BASE_URL', settings.baseUrl);
  if (known !== null) return known.baseUrl;
  throw new UsageError('Which service? Name --base-url URL, as https://identity.example.com.');
}

async function requireAccepted(baseUrl: string, token: string): Promise<void> {
  try {
    await new IdentityState({ baseUrl, token }).tenants().next();
  } catch (error) {
    throw failureOf(error, baseUrl);
  }
}
