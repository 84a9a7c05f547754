import { IdentityState } from '@identity-state/client';
import { type CommandContext, Failure, hasFlag, type Options, textOf, UsageError } from '../command';
import { defineCommand } from '../define';
import { baseUrlOf } from '../identity/base-url';
import { claimsOf, profileNameOf, PROFILE_OPTION } from '../service/caller';
import { explainedFailure } from '../service/failure';
import { type Profile, Profiles } from '../identity/profiles';
import { discover, issuerOf, signInByBrowser, signInByDevice } from '../identity/sign-in';
import { requireWebAddress } from '../identity/web-address';
import { visible } from '../visible';

/** The client of the development issuer of `npm start`. */
const CLIENT_ID = 'iss';

export const login = defineCommand({
  about:
    'By default, it opens the browser (authorization code with PKCE). The profile is saved in profiles.json, which only you can read, in $XDG_CONFIG_HOME/iss or ~/.config/iss. iss refreshes expired access tokens if the issuer gave a refresh token. It shows the service and the issuer before you sign in.',
  options: {
    'base-url': { value: 'URL', about: 'Service (default: ISS_BASE_URL, then the profile).' },
    device: { about: 'Sign in on another device with a code.' },
    'token-stdin': { about: 'Read an access token from standard input instead.' },
    issuer: { value: 'URL', about: 'Token issuer (default: the one that the service names).' },
    yes: { about: 'Confirm the first sign-in at a service without a prompt.' },
    'issuer-changed': { about: 'Accept that the issuer of the profile has changed.' },
    'client-id': { value: 'ID', about: `OAuth client at the issuer (default: ${CLIENT_ID}).` },
    ...PROFILE_OPTION,
  },
  async run(_values, context, options) {
    const name = profileNameOf(options, context);
    const profiles = new Profiles(context.settings.configFolder);
    const known = profiles.read(name);
    const baseUrl = serviceOf(options, context, known);
    const pin: Pin = { profile: name, issuer: pinOf(known), mayChange: hasFlag(options, 'issuer-changed') };
    const tokens = hasFlag(options, 'token-stdin')
      ? await tokenOf(context, pin)
      : await tokensOf(options, context, new URL(baseUrl).origin, pin);
    // A refused token must not replace a working one.
    await requireAccepted(baseUrl, tokens.accessToken);
    const tenant = known?.baseUrl === baseUrl ? known.tenant : null;
    profiles.write(name, { baseUrl, tenant, ...tokens, issuer: tokens.issuer ?? known?.issuer ?? null });
    const { sub } = claimsOf(tokens.accessToken);
    context.print(`Signed in at ${baseUrl}${typeof sub === 'string' ? ` as ${visible(sub)}` : ''}, profile ${name}.`);
  },
});

type Tokens = Pick<Profile, 'accessToken' | 'refresh' | 'issuer'>;

/** The issuer that a profile is bound to. */
interface Pin {
  profile: string;
  /** Null if the profile accepts any issuer, because nobody has signed in yet. */
  issuer: string | null;
  mayChange: boolean;
}

async function tokenOf(context: CommandContext, pin: Pin): Promise<Tokens> {
  const accessToken = (await context.input()).trim();
  if (accessToken === '' || /\s/.test(accessToken))
    throw new UsageError('Standard input has no access token. Pipe a single token into iss login --token-stdin.');
  const issuer = issuerClaimOf(accessToken);
  if (issuer !== null) requirePinned(pin, issuer);
  return { accessToken, refresh: null, issuer };
}

/** Signs the user in. @param resource the origin of the service that the token is for (RFC 8707) */
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

/** @throws Failure if the profile is bound to another issuer */
function requirePinned({ profile, issuer: pinned, mayChange }: Pin, issuer: string): void {
  if (pinned === null || mayChange || isSame(issuer, pinned)) return;
  throw new Failure(
    `The profile ${profile} belongs to the issuer ${visible(pinned)}, but this sign-in uses ${visible(issuer)}. ` +
      'If the operator of the service confirms the change, add --issuer-changed. To keep both, use another --profile.',
  );
}

/** @throws Failure if the user does not confirm the first sign-in at a service */
async function requireConsent(options: Options, { settings, confirm }: CommandContext, origin: string): Promise<void> {
  if (hasFlag(options, 'yes') || new Profiles(settings.configFolder).knowsService(origin)) return;
  const isConfirmed = await confirm(
    `This is your first sign-in at ${origin}. The service will be able to act as you. Continue?`,
  );
  if (isConfirmed === true) return;
  throw new Failure(
    isConfirmed === null
      ? `The first sign-in at ${origin} must be confirmed, but standard input is not a terminal. Add --yes.`
      : `The sign-in at ${origin} was not confirmed. No token was requested.`,
  );
}

/** Returns the issuer of a profile. For a profile of an older iss, the token names it. */
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
  throw new UsageError('No service is named. Add --base-url URL, such as https://identity.example.com.');
}

async function requireAccepted(baseUrl: string, token: string): Promise<void> {
  try {
    await new IdentityState({ baseUrl, token }).tenants().next();
  } catch (error) {
    throw explainedFailure(error, baseUrl);
  }
}
