import { IdentityState, type Tenant, type TokenContext } from '@identity-state/client';
import { FileTrustStore } from '@identity-state/client/node';
import { parseJson } from '@iss/domain';
import { join } from 'node:path';
import { type CommandContext, Failure, type Options, textOf, UsageError } from '../command';
import { readWhole } from '../files';
import { baseUrlOf } from '../identity/base-url';
import { explainedFailure } from './failure';
import { DEFAULT_PROFILE, type Profile, Profiles } from '../identity/profiles';
import { refreshToken } from '../identity/tokens';

/** In bytes. */
const MAX_POLICY = 65_536;
/** A token that expires sooner is refreshed before use. */
const EXPIRES_SOON_MS = 30_000;

export const PROFILE_OPTION = {
  profile: {
    value: 'NAME',
    about: 'Profile of iss login (default: ISS_PROFILE, then “default”).',
    isShared: true,
  },
} as const;
export const CALLER_OPTIONS = {
  tenant: { value: 'ID', about: 'Tenant to act for (default: ISS_TENANT, then iss use).', isShared: true },
  ...PROFILE_OPTION,
} as const;
export const POLICY_OPTION = {
  policy: { value: 'FILE', about: 'Verify log proofs too, with this C2SP tlog-policy.', isShared: true },
} as const;

/** The service, the user and the tenant of a command. */
export interface Caller {
  readonly iss: IdentityState;
  readonly baseUrl: string;
  /** The last token that was sent, or the first one to send. */
  readonly token: string;
  /** The tenant to act for. @throws UsageError if none is named */
  readonly tenant: Tenant;
  /** Null if none is named. */
  readonly tenantId: string | null;
}

/** Calls the service with the identity of the profile or of ISS_TOKEN. Errors of the client become a {@link Failure}. */
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
      throw new UsageError('No tenant is selected. Add --tenant ID, or select one with iss use TENANT.');
    },
  };
  try {
    return await work(caller);
  } catch (error) {
    throw explainedFailure(error, baseUrl);
  }
}

export function profileNameOf(options: Options, { settings }: CommandContext): string {
  return textOf(options, 'profile') ?? settings.profile ?? DEFAULT_PROFILE;
}

/** Returns the claims of a JWT without verifying it, or an empty object for any other token. */
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
    // The token belongs to ISS_BASE_URL, so the profile is ignored.
    const { token, baseUrl } = settings;
    if (textOf(options, 'profile') !== undefined) {
      throw new UsageError('ISS_TOKEN and --profile name two identities. Unset ISS_TOKEN or remove --profile.');
    }
    if (baseUrl === undefined)
      throw new UsageError('ISS_TOKEN is set without ISS_BASE_URL. Set ISS_BASE_URL to the URL of the service.');
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
      `No profile ${name} exists. Sign in first: iss login${name === DEFAULT_PROFILE ? '' : ` --profile ${name}`}.`,
    );
  }
  // The token of a profile goes only to the service of the profile. ISS_BASE_URL does not change that.
  let current: Profile = profile;
  return {
    baseUrl: profile.baseUrl,
    tenant: named ?? profile.tenant,
    token: () => current.accessToken,
    async source({ refused }) {
      const { refresh, accessToken } = current;
      if (refresh === null || (refused === null && !expiresSoon(accessToken))) return accessToken;
      return profiles.exclusively(async () => {
        // Another process may have refreshed it meanwhile.
        current = profiles.read(name) ?? current;
        if (current.accessToken === accessToken) {
          current = { ...current, ...(await refreshToken(current.refresh ?? refresh)) };
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
