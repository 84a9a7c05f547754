import { IdentityState } from '@identity-state/client';
import { type Command, type CommandContext, Failure, hasFlag, type Options, textOf, UsageError } from '../command';
import { baseUrlOf } from '../service/base-url';
import { claimsOf, profileNameOf, PROFILE_OPTION } from '../service/caller';
import { failureOf } from '../service/failure';
import { type Profile, Profiles } from '../service/profiles';
import { discover, issuerOf, signInByBrowser, signInByDevice } from '../service/sign-in';
import { requireWebAddress } from '../web-address';
import { visible } from '../visible';

/** As the development issuer of `npm start` has it. */
const CLIENT_ID = 'iss';

/** Makes a profile: which service, and as whom. */
export const login: Command = {
  about:
    'In the browser (authorization code with PKCE, over loopback), with --device on another one where the issuer has that flow, or ' +
    'with a token that you have. The profile is kept in a file that only you may read, profiles.json in XDG_CONFIG_HOME/iss ' +
    '(~/.config/iss); an access token that expires is made anew where the issuer gave a refresh token. The hosts of the ' +
    'service and of the issuer are shown first. The profile is pinned to its issuer.',
  usage:
    '[--base-url URL] [--device | --token-stdin] [--yes] [--issuer URL] [--issuer-changed] [--client-id ID] [--profile NAME]',
  options: {
    'base-url': { value: 'URL', about: 'The service: ISS_BASE_URL, or the profile’s, where it is left out.' },
    device: { about: 'Signs you in on another device, by a code.' },
    'token-stdin': { about: 'Takes an access token from standard input.' },
    issuer: { value: 'URL', about: 'Who issues tokens: the service names it where it is left out.' },
    yes: { about: 'Confirms the first sign-in at a service, which is asked for otherwise.' },
    'issuer-changed': { about: 'Pins the profile to another issuer than before.' },
    'client-id': { value: 'ID', about: `As which client of the issuer: “${CLIENT_ID}” unless said otherwise.` },
    ...PROFILE_OPTION,
  },
  async run(options, context) {
    const name = profileNameOf(options, context);
    const profiles = new Profiles(context.settings.configFolder);
    const known = profiles.read(name);
    const baseUrl = serviceOf(options, context, known);
    const pin: Pin = { profile: name, issuer: pinOf(known), mayChange: hasFlag(options, 'issuer-changed') };
    const tokens = hasFlag(options, 'token-stdin')
      ? await tokenOf(context, pin)
      : await tokensOf(options, context, new URL(baseUrl).origin, pin);
    // A token that the service refuses replaces none.
    await requireAccepted(baseUrl, tokens.accessToken);
    const tenant = known?.baseUrl === baseUrl ? known.tenant : null;
    profiles.write(name, { baseUrl, tenant, ...tokens, issuer: tokens.issuer ?? known?.issuer ?? null });
    const { sub } = claimsOf(tokens.accessToken);
    context.print(`Signed in at ${baseUrl}${typeof sub === 'string' ? ` as ${visible(sub)}` : ''}, profile ${name}.`);
  },
};

type Tokens = Pick<Profile, 'accessToken' | 'refresh' | 'issuer'>;

/** The issuer that a profile keeps. */
interface Pin {
  profile: string;
  /** Null: any, since none signed in yet. */
  issuer: string | null;
  mayChange: boolean;
}

async function tokenOf(context: CommandContext, pin: Pin): Promise<Tokens> {
  const accessToken = (await context.input()).trim();
  if (accessToken === '' || /\s/.test(accessToken)) throw new UsageError('Standard input holds no access token.');
  const issuer = issuerClaimOf(accessToken);
  if (issuer !== null) requirePinned(pin, issuer);
  return { accessToken, refresh: null, issuer };
}

/** Signs somebody in. @param resource the origin of the service, which the token is for (RFC 8707) */
async function tokensOf(options: Options, context: CommandContext, resource: string, pin: Pin): Promise<Tokens> {
  requireWebAddress('The address of the service', resource);
  const clientId = textOf(options, 'client-id') ?? CLIENT_ID;
  const named = textOf(options, 'issuer') ?? (await issuerOf(resource));
  requirePinned(pin, named);
  context.complain(`Service: ${resource}\nIssuer:  ${requireWebAddress('The issuer', named).href}`);
  await requireConsent(options, context, resource);
  const issuer = await discover(named, clientId);
  const signIn = hasFlag(options, 'device') ? signInByDevice : signInByBrowser;
  const { accessToken, refreshToken } = await signIn(issuer, resource, context);
  const { tokenEndpoint } = issuer;
  return {
    accessToken,
    issuer: issuer.issuer,
    refresh: refreshToken === null ? null : { token: refreshToken, tokenEndpoint, clientId, resource },
  };
}

/** @throws Failure for another issuer than the one that the profile is pinned to */
function requirePinned({ profile, issuer: pinned, mayChange }: Pin, issuer: string): void {
  if (pinned === null || mayChange || isSame(issuer, pinned)) return;
  throw new Failure(
    `The profile ${profile} is pinned to the issuer ${visible(pinned)}, and this sign-in is by ${visible(issuer)}. ` +
      'If the operator of the service says that it changed, add --issuer-changed. Another --profile keeps both.',
  );
}

/** @throws Failure if nobody confirms the first sign-in at a service */
async function requireConsent(options: Options, { settings, confirm }: CommandContext, origin: string): Promise<void> {
  if (hasFlag(options, 'yes') || new Profiles(settings.configFolder).knowsService(origin)) return;
  const isConfirmed = await confirm(`This is the first sign-in at ${origin}, which will be able to act as you. Go on?`);
  if (isConfirmed === true) return;
  throw new Failure(
    isConfirmed === null
      ? `The first sign-in at ${origin} must be confirmed, and standard input is no terminal: add --yes.`
      : `The sign-in at ${origin} was not confirmed. No token was asked for.`,
  );
}

/** Returns the issuer of a profile. The token names the one of a profile that an older iss made. */
function pinOf(profile: Profile | null): string | null {
  return profile === null ? null : (profile.issuer ?? issuerClaimOf(profile.accessToken));
}

function issuerClaimOf(accessToken: string): string | null {
  const { iss } = claimsOf(accessToken);
  return typeof iss === 'string' ? iss : null;
}

function isSame(one: string, other: string): boolean {
  return one.replace(/\/+$/, '') === other.replace(/\/+$/, '');
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
