import { shownCheckpoint } from '@identity-state/client/bundle';
import { setTimeout as pause } from 'node:timers/promises';
import { type Command, Failure, hasFlag, type Options, textOf, UsageError } from '../command';
import { Contradiction, lookAtLog, type Look } from '../monitor/monitor';
import { MonitorState } from '../monitor/state';
import { visible } from '../visible';
import { policyOf, TRUST_OPTIONS, TRUST_USAGE } from '../trust/policy';

const DEFAULT_INTERVAL_S = 60;
const MAX_INTERVAL_S = 86_400;

/** Watches that a log only grows. */
export const monitor: Command = {
  usage: `--log URL ${TRUST_USAGE} --state FILE [--follow [--interval SECONDS]] [--json]`,
  options: {
    ...TRUST_OPTIONS,
    log: { value: 'URL', about: 'The prefix of the log’s checkpoint and tiles.' },
    state: { value: 'FILE', about: 'Where the newest checkpoint is kept.' },
    follow: { about: 'Looks again and again.' },
    interval: { value: 'SECONDS', about: `Between two looks: ${DEFAULT_INTERVAL_S} unless said otherwise.` },
    json: { about: 'One line of JSON a look.' },
  },
  async run(options, { print, complain, signal }) {
    const [url, file] = [textOf(options, 'log'), textOf(options, 'state')];
    if (url === undefined) throw new UsageError('Which log? Name --log URL, the prefix of its checkpoint and tiles.');
    if (file === undefined) throw new UsageError('Name --state FILE, where the newest checkpoint is kept.');
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
        // It may be there again at the next look; what it showed before is kept.
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
  throw new UsageError(`--interval takes seconds, from 1 to ${MAX_INTERVAL_S}.`);
}

function asText({ verified, knownSize }: Look): string {
  const { log_origin: origin, tree_size: size, cosigned_by: cosigned } = shownCheckpoint(verified);
  const grown = knownSize === null ? 'seen for the first time' : `consistent with the ${knownSize} of the last look`;
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
