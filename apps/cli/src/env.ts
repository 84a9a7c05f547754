import { type Settings, settingsOf, type Started, startedOf, wantsColour } from './settings';

/** What the environment of this process says. */
export function readSettings(): Settings {
  return settingsOf(process.env, process.platform);
}

/** Whether standard output is to be coloured. */
export function isOutputColoured(): boolean {
  return wantsColour(process.env, process.stdout.isTTY === true);
}

/** The environment as it is. */
export function readVariables(): NodeJS.ProcessEnv {
  return process.env;
}

/** What `npm start` runs, where that is meant. */
export function readStarted(): Started | null {
  return startedOf(process.env);
}
