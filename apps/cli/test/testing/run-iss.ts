import { operatorEnv } from '@iss/platform';
import type { CommandContext } from '../../src/command';
import { runCommand } from '../../src/run';
import { settingsOf } from '../../src/settings';

/** The context of a command of `iss` that runs without a process and records its output. */
export function testContext(changes: Partial<CommandContext> = {}) {
  const printed: string[] = [];
  const complaints: string[] = [];
  const context: CommandContext = {
    env: async () => operatorEnv({}),
    variables: {},
    started: null,
    settings: settingsOf({}, 'linux'),
    screen: { isColoured: false, isLive: false },
    print: (text) => printed.push(text),
    complain: (text) => complaints.push(text),
    input: async () => '',
    confirm: async () => null,
    browse: async () => false,
    signal: new AbortController().signal,
    ...changes,
  };
  return { context, printed, complaints };
}

/** Runs `iss …`, and returns its output and exit code. */
export async function iss(words: readonly string[], changes: Partial<CommandContext> = {}) {
  const { context, printed, complaints } = testContext(changes);
  const exitCode = await runCommand(words, context);
  return { exitCode, printed: printed.join('\n'), complaint: complaints.join('\n') };
}
