import { IdentityState, type Tenant, type TokenContext } from '@identity-state/client';
import { FileTrustStore } from '@identity-state/client/node';
import { parseJson } from '@iss/domain';
import { join } from 'node:path';
import { type CommandContext, Failure, type Options, textOf, UsageError } from '../command';
import { readWhole } from '../files';
import { baseUrlOf } from './base-url';
import { failureOf } from './failure';
import { DEFAULT_PROFILE, type Profile, Profiles } from './profiles';
import { refreshed } from './tokens';

/** Bytes of a policy. */
const MAX_POLICY = 65_536;
/** A token that expires sooner is made anew first. */
const EXPIRES_SOON_MS = 30_000;

/** Of every command that calls the service. */
export const PROFILE_OPTION = {
  profile: {
    value: 'NAME',
    about: 'As whom: the profile that iss login made, “default” unless ISS_PROFILE says otherwise.',
  },
} as const;
export const CALLER_OPTIONS = {
  tenant: { value: 'ID', about: 'For which tenant: the one of iss use, or ISS_TENANT, where it is left out.' },
  ...PROFILE_OPTION,
} as const;
export const POLICY_OPTION = {
  policy: { value: 'FILE', about: 'Proves what is shown by the log too: whom you trust, a C2SP tlog-policy.' },
} as const;

/** The service as one user calls it. */
export interface Caller {
  readonly iss: IdentityState;
  readonly baseUrl: string;
  /** The token that was sent last, or will be first. */
  readonly token: string;
  /** The tenant to act for. @throws UsageError where none is named */
  readonly tenant: Tenant;
  /** Null where none is named. */
  readonly tenantId: string | null;
}

/** Does something with the service as the profile says. What the client throws comes as a {@link Failure}. */
export async function asCaller<T>(
  options: Options,
  context: CommandContext,
  work: (caller: Caller) => Promise<T>,
): Promise<T> {
  const { baseUrl, tenant, source, token } = identityOf(options, context);
  const policyFile = textOf(options, 'policy');
  const iss = new IdentityState({
    baseUrl,
    token: source,
    ...(policyFile === undefined
      ? {}
      : {
          trust: {
            policy: readWhole(policyFile, 'policy', MAX_POLICY).toString('utf8'),
            store: new FileTrustStore(join(context.settings.configFolder, 'checkpoints.json')),
          },
        }),
  });
  const caller: Caller = {
    iss,
    baseUrl,
    get token() {
      return token();
    },
    tenantId: tenant,
    get tenant() {
      if (tenant !== null) return iss.tenant(tenant);
      throw new UsageError('For which tenant? Name --tenant ID, or choose one for good: iss use TENANT.');
    },
  };
  try {
    return await work(caller);
  } catch (error) {
    throw failureOf(error, baseUrl);
  }
}

/** The name of the profile that is meant. */
export function profileNameOf(options: Options, { settings }: CommandContext): string {
  return textOf(options, 'profile') ?? settings.profile ?? DEFAULT_PROFILE;
}

/** Where a token is, in three parts, it is a JWT, whose claims anybody can read; empty for any other. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> {
  const [, payload = ''] = token.split('.');
  try {
    const claims = parseJson(Buffer.from(payload, 'base64url'));
    return typeof claims === 'object' && claims !== null ? Object.fromEntries(Object.entries(claims)) : {};
  } catch {
    return {};
  }
}

interface Identity {
  baseUrl: string;
  tenant: string | null;
  source: (context: TokenContext) => Promise<string>;
  token: () => string;
}

function identityOf(options: Options, context: CommandContext): Identity {
  const { settings } = context;
  const named = textOf(options, 'tenant') ?? settings.tenant;
  if (settings.token !== undefined) {
    // No profile has a say then: a token belongs to the service that is named beside it.
    const { token, baseUrl } = settings;
    if (textOf(options, 'profile') !== undefined) {
      throw new UsageError(
        'ISS_TOKEN is set, and --profile names another identity: unset ISS_TOKEN, or leave --profile out.',
      );
    }
    if (baseUrl === undefined) throw new UsageError('ISS_TOKEN is for which service? Set ISS_BASE_URL too.');
    return {
      baseUrl: baseUrlOf('ISS_BASE_URL', baseUrl),
      tenant: named ?? null,
      source: async () => token,
      token: () => token,
    };
  }
  const name = profileNameOf(options, context);
  const profiles = new Profiles(settings.configFolder);
  const profile = profiles.read(name);
  if (profile === null) {
    throw new Failure(
      `Nobody is signed in as the profile ${name}: iss login${name === DEFAULT_PROFILE ? '' : ` --profile ${name}`}.`,
    );
  }
  // A token belongs to the service that it was made for: no variable sends it to another one.
  let current: Profile = profile;
  return {
    baseUrl: profile.baseUrl,
    tenant: named ?? profile.tenant,
    token: () => current.accessToken,
    async source({ refused }) {
      const { refresh, accessToken } = current;
      if (refresh === null || (refused === null && !expiresSoon(accessToken))) return accessToken;
      return profiles.exclusively(async () => {
        // Another process may have made it anew meanwhile.
        current = profiles.read(name) ?? current;
        if (current.accessToken === accessToken) {
          current = { ...current, ...(await refreshed(current.refresh ?? refresh)) };
          profiles.write(name, current);
        }
        return current.accessToken;
      });
    },
  };
}

function expiresSoon(token: string): boolean {
  const { exp } = claimsOf(token);
  return typeof exp === 'number' && exp * 1000 - Date.now() < EXPIRES_SOON_MS;
}
