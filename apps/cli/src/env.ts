import { type Settings, settingsOf, type Started, startedOf, wantsColour } from './settings';

export function readSettings(): Settings {
  return settingsOf(process.env, process.platform);
}

export function isOutputColoured(): boolean {
  return wantsColour(process.env, process.stdout.isTTY === true);
}

export function readVariables(): NodeJS.ProcessEnv {
  return process.env;
}

/** Returns the service of `npm start`, if `npx iss` passed it on. */
export function readStarted(): Started | null {
  return startedOf(process.env);
}
