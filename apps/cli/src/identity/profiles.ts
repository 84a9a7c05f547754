import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Failure, UsageError } from '../command';
import { systemCode } from '../files';
import { Members } from '@iss/proof';

/** A service, a user and a tenant. */
export interface Profile {
  baseUrl: string;
  tenant: string | null;
  accessToken: string;
  /** The issuer that the profile is bound to; null if no sign-in named one. */
  issuer: string | null;
  /** How to refresh the access token; null if the user must sign in again. */
  refresh: Refresh | null;
}

export interface Refresh {
  token: string;
  tokenEndpoint: string;
  clientId: string;
  /** The origin of the service that the tokens are for (RFC 8707); null in a profile of an older iss. */
  resource: string | null;
}

const FILE = 'profiles.json';
/** The age at which a lock expires, which is longer than any request to an issuer. */
const LOCKED_MS = 30_000;
const LOCK_PAUSE_MS = 20;
export const DEFAULT_PROFILE = 'default';
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The profiles of one user, in a file that only this user can read. */
export class Profiles {
  private readonly file: string;

  constructor(folder: string) {
    this.file = join(folder, FILE);
  }

  /** Returns null if there is no such profile. @throws UnreadableError for an invalid file; UsageError for an invalid name */
  read(name: string): Profile | null {
    return this.all().get(requireName(name)) ?? null;
  }

  names(): string[] {
    return [...this.all().keys()];
  }

  /** Returns whether a profile has signed in at this origin. */
  knowsService(origin: string): boolean {
    return [...this.all().values()].some(({ baseUrl }) => URL.canParse(baseUrl) && new URL(baseUrl).origin === origin);
  }

  /** Replaces the profile and syncs the file to disk. */
  write(name: string, profile: Profile): void {
    const profiles = this.all();
    profiles.set(requireName(name), profile);
    this.replace(profiles);
  }

  /** Returns whether the profile existed. */
  remove(name: string): boolean {
    const profiles = this.all();
    if (!profiles.delete(requireName(name))) return false;
    this.replace(profiles);
    return true;
  }

  /**
   * Runs work that no other process runs at the same time. A refresh token works once, and its second use ends the sign-in. The
   * lock of a crashed process expires.
   */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    const lock = `${this.file}.lock`;
    const endsAt = Date.now() + LOCKED_MS;
    while (!this.take(lock)) {
      if (Date.now() > endsAt) rmSync(lock, { force: true });
      else await pause(LOCK_PAUSE_MS);
    }
    try {
      return await work();
    } finally {
      rmSync(lock, { force: true });
    }
  }

  private take(lock: string): boolean {
    try {
      writeFileSync(lock, '', { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if (systemCode(error) === 'EEXIST') return false;
      throw new Failure(`${lock} cannot be written (${systemCode(error) ?? String(error)}).`);
    }
  }

  private all(): Map<string, Profile> {
    let bytes: Buffer;
    try {
      bytes = readFileSync(this.file);
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return new Map();
      throw new Failure(`${this.file} cannot be read (${systemCode(error) ?? String(error)}).`);
    }
    const profiles = Members.parse(this.file, bytes);
    return new Map(Object.keys(profiles.all).map((name) => [name, profileOf(profiles.object(name))]));
  }

  private replace(profiles: ReadonlyMap<string, Profile>): void {
    const text = Object.fromEntries([...profiles].map(([name, profile]) => [name, asJson(profile)]));
    const next = `${this.file}.${randomUUID()}`;
    try {
      mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
      writeFileSync(next, `${JSON.stringify(text, null, 2)}\n`, { mode: 0o600, flush: true });
      renameSync(next, this.file);
    } catch (error) {
      rmSync(next, { force: true });
      throw new Failure(`${this.file} cannot be written (${systemCode(error) ?? String(error)}).`);
    }
  }
}

function requireName(name: string): string {
  if (!NAME.test(name))
    throw new UsageError('--profile takes a name of letters, digits, dots, underscores and hyphens.');
  return name;
}

function profileOf(members: Members): Profile {
  const refresh = members.value('refresh') === null ? null : members.object('refresh');
  return {
    baseUrl: members.text('base_url'),
    tenant: members.textOrNull('tenant'),
    accessToken: members.text('access_token'),
    issuer: members.has('issuer') ? members.textOrNull('issuer') : null,
    refresh:
      refresh === null
        ? null
        : {
            token: refresh.text('token'),
            tokenEndpoint: refresh.text('token_endpoint'),
            clientId: refresh.text('client_id'),
            resource: refresh.has('resource') ? refresh.textOrNull('resource') : null,
          },
  };
}

function asJson({ baseUrl, tenant, accessToken, issuer, refresh }: Profile): object {
  return {
    base_url: baseUrl,
    tenant,
    access_token: accessToken,
    issuer,
    refresh:
      refresh === null
        ? null
        : {
            token: refresh.token,
            token_endpoint: refresh.tokenEndpoint,
            client_id: refresh.clientId,
            resource: refresh.resource,
          },
  };
}
