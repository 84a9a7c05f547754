import { type Settings, settingsOf, wantsColour } from './settings';

/** What the environment of this process says. */
export function readSettings(): Settings {
  return settingsOf(process.env, process.platform);
}

/** Whether standard output is to be coloured. */
export function isOutputColoured(): boolean {
  return wantsColour(process.env, process.stdout.isTTY === true);
}
