import { join } from 'node:path';
import { UsageError } from './errors';

/** What the environment says of whom the service is called as. Options and profiles say the rest. */
export interface Settings {
  /** Where profiles and tokens are kept. */
  configFolder: string;
  profile: string | undefined;
  baseUrl: string | undefined;
  tenant: string | undefined;
  /** An access token, in place of a profile's. */
  token: string | undefined;
}

/** The service that `npm start` runs. */
export interface Started {
  queueUrl: string;
  issuer: string;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** @throws UsageError where there is no folder that configuration could be kept in */
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

/** As each system has it: XDG_CONFIG_HOME everywhere it is set, %APPDATA% on Windows, ~/.config elsewhere. */
function configFolderOf(of: (name: string) => string | undefined, platform: NodeJS.Platform): string {
  const own = of('XDG_CONFIG_HOME') ?? (platform === 'win32' ? of('APPDATA') : undefined);
  if (own !== undefined) return join(own, 'iss');
  const home = of('HOME') ?? of('USERPROFILE');
  if (home === undefined) throw new UsageError('There is no home folder to keep profiles in: set XDG_CONFIG_HOME.');
  return join(home, '.config', 'iss');
}

/** Whether to write in colours: on a terminal, unless NO_COLOR, CI or a terminal without any say otherwise. */
export function wantsColour(variables: Variables, isTerminal: boolean): boolean {
  if (variables['FORCE_COLOR'] && variables['FORCE_COLOR'] !== '0') return true;
  return isTerminal && !variables['NO_COLOR'] && !variables['CI'] && variables['TERM'] !== 'dumb';
}

/** As `npx iss` in a clone hands it on. */
export function startedOf(variables: Variables): Started | null {
  const [queueUrl, issuer] = [variables['ISS_STARTED_QUEUE_URL'], variables['ISS_STARTED_ISSUER']];
  return queueUrl === undefined || issuer === undefined ? null : { queueUrl, issuer };
}
