import { join } from 'node:path';
import { UsageError } from './errors';

/** Settings of the caller from the environment. Options and profiles complete them. */
export interface Settings {
  /** The folder of profiles and tokens. */
  configFolder: string;
  profile: string | undefined;
  baseUrl: string | undefined;
  tenant: string | undefined;
  /** An access token that replaces the one of the profile. */
  token: string | undefined;
}

/** The service that `npm start` runs. */
export interface Started {
  queueUrl: string;
  issuer: string;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Reads the settings. Reading `configFolder` throws UsageError if there is no home folder. */
export function settingsOf(variables: Variables, platform: NodeJS.Platform): Settings {
  const of = (name: string): string | undefined => variables[name] || undefined;
  return {
    get configFolder() {
      return configFolderOf(of, platform);
    },
    profile: of('ISS_PROFILE'),
    baseUrl: of('ISS_BASE_URL'),
    tenant: of('ISS_TENANT'),
    token: of('ISS_TOKEN'),
  };
}

/** Returns the folder `iss` in XDG_CONFIG_HOME if that is set, in %APPDATA% on Windows, else in ~/.config. */
function configFolderOf(of: (name: string) => string | undefined, platform: NodeJS.Platform): string {
  const own = of('XDG_CONFIG_HOME') ?? (platform === 'win32' ? of('APPDATA') : undefined);
  if (own !== undefined) return join(own, 'iss');
  const home = of('HOME') ?? of('USERPROFILE');
  if (home === undefined) throw new UsageError('There is no home folder for profiles. Set XDG_CONFIG_HOME.');
  return join(home, '.config', 'iss');
}

/** Returns whether to use colours: on a terminal, unless NO_COLOR, CI or TERM=dumb is set, or always with FORCE_COLOR. */
export function wantsColour(variables: Variables, isTerminal: boolean): boolean {
  if (variables['FORCE_COLOR'] && variables['FORCE_COLOR'] !== '0') return true;
  return isTerminal && !variables['NO_COLOR'] && !variables['CI'] && variables['TERM'] !== 'dumb';
}

/** Reads what `npx iss` passes on in a clone. */
export function startedOf(variables: Variables): Started | null {
  const [queueUrl, issuer] = [variables['ISS_STARTED_QUEUE_URL'], variables['ISS_STARTED_ISSUER']];
  return queueUrl === undefined || issuer === undefined ? null : { queueUrl, issuer };
}
