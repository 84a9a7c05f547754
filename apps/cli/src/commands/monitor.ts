import { shownCheckpoint } from '@iss/proof';
import { setTimeout as pause } from 'node:timers/promises';
import { type Command, Failure, hasFlag, type Options, textOf, UsageError } from '../command';
import { Contradiction, lookAtLog, type Look } from '../monitor/monitor';
import { MonitorState } from '../monitor/state';
import { visible } from '../visible';
import { policyOf, TRUST_OPTIONS, TRUST_USAGE } from '../trust/policy';
import { JSON_OPTION } from '../output';

const DEFAULT_INTERVAL_S = 60;
const MAX_INTERVAL_S = 86_400;

export const monitor: Command = {
  about:
    'It fetches the checkpoint, checks that the log only grew since the checkpoint in the state file, and replaces that file. If the log went back or shows another history, the exit code is 1, also with --follow. Both signed checkpoints are then kept as evidence (FILE.known-…, FILE.shown-…), and the state file stays unchanged. If the log cannot be reached, the exit code is 1. With --follow, iss reports that and tries again.',
  usage: `--log URL ${TRUST_USAGE} --state FILE [--follow [--interval SECONDS]]`,
  options: {
    ...TRUST_OPTIONS,
    log: { value: 'URL', about: 'URL prefix of the log.' },
    state: { value: 'FILE', about: 'File for the newest checkpoint.' },
    follow: { about: 'Repeat until SIGINT or SIGTERM.' },
    interval: { value: 'SECONDS', about: `Pause between checks (default: ${DEFAULT_INTERVAL_S}).` },
    ...JSON_OPTION,
  },
  async run(options, { print, complain, signal }) {
    const [url, file] = [textOf(options, 'log'), textOf(options, 'state')];
    if (url === undefined) throw new UsageError('--log is missing. Name the URL prefix of the log.');
    if (file === undefined) throw new UsageError('--state is missing. Name a FILE for the newest checkpoint.');
    const policy = policyOf(options);
    const state = new MonitorState(file);
    const intervalMs = intervalOf(options) * 1000;
    const show = hasFlag(options, 'json') ? asJson : asText;
    const look = async () => print(show(await lookAtLog(url, policy, state, signal)));
    if (!hasFlag(options, 'follow')) return look();
    while (!signal.aborted) {
      try {
        await look();
      } catch (error) {
        if (!(error instanceof Failure) || error instanceof Contradiction) throw error;
        // An unreachable log is not a contradiction. The next check may succeed.
        if (!signal.aborted) complain(error.message);
      }
      await pause(intervalMs, undefined, { signal }).catch(() => undefined);
    }
  },
};

function intervalOf(options: Options): number {
  const text = textOf(options, 'interval');
  if (text === undefined) return DEFAULT_INTERVAL_S;
  const seconds = Number(text);
  if (/^\d{1,5}$/.test(text) && seconds >= 1 && seconds <= MAX_INTERVAL_S) return seconds;
  throw new UsageError(`--interval takes a number of seconds from 1 to ${MAX_INTERVAL_S}.`);
}

function asText({ verified, knownSize }: Look): string {
  const { log_origin: origin, tree_size: size, cosigned_by: cosigned } = shownCheckpoint(verified);
  const grown = knownSize === null ? 'first check' : `consistent with the ${knownSize} of the last check`;
  const times = cosigned.map(
    ({ witness, at }) => `, witnessed by ${visible(witness)}${at === null ? '' : ` at ${at}`}`,
  );
  return `${visible(origin)}: ${size} entries, ${grown}${times.join('')}.`;
}

function asJson({ verified, knownSize }: Look): string {
  return JSON.stringify({
    ...shownCheckpoint(verified),
    consistent_with: knownSize === null ? null : { tree_size: knownSize },
  });
}
