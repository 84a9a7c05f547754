import { operatorEnv } from '@iss/platform';
import { runCommand } from '../../src/run';

/** What `iss …` prints, says and exits with. */
export async function iss(words: readonly string[], signal = new AbortController().signal) {
  const printed: string[] = [];
  const complaints: string[] = [];
  const exitCode = await runCommand(words, {
    env: () => operatorEnv({}),
    print: (text) => printed.push(text),
    complain: (text) => complaints.push(text),
    signal,
  });
  return { exitCode, printed: printed.join('\n'), complaint: complaints.join('\n') };
}
