import { shownCheckpoint } from '@iss/proof';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Command,
  type CommandContext,
  Failure,
  hasFlag,
  numberOf,
  type Options,
  textOf,
  UsageError,
} from '../command';
import { Contradiction, lookAtLog, type LogLook } from '../monitor/monitor';
import { MonitorState } from '../monitor/state';
import { lookAtSubject, type SubjectLook } from '../monitor/subject';
import { SubjectState } from '../monitor/subject-state';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { subjectOf } from '../service/subject-name';
import { visible } from '../visible';
import { trustedPolicy, TRUST_OPTIONS, TRUST_USAGE } from '../trust/policy';
import { JSON_OPTION } from '../output';

const DEFAULT_INTERVAL_S = 60;
const MAX_INTERVAL_S = 86_400;
/** Ten years. */
const MAX_AGE_S = 315_360_000;

export const monitor: Command = {
  about:
    'It fetches the checkpoint, checks that the log only grew since the checkpoint in the state file, and replaces that file. If the log went back or shows another history, the exit code is 1, also with --follow. Both signed checkpoints are then kept as evidence (FILE.known-…, FILE.shown-…), and the state file stays unchanged. If the log cannot be reached, the exit code is 1. With --follow, iss reports that and tries again. With --subject, iss also proves the newest version of a subject, its changes of access and the grants to your tenant, as far as you may ask. It ends in the same way if a proof fails, or a number is lower than before.',
  usage: `--log URL ${TRUST_USAGE} --state FILE [--subject TYPE/ID [--vrf-key KEY] [--max-age SECONDS]] [--follow [--interval SECONDS]]`,
  options: {
    ...TRUST_OPTIONS,
    log: { value: 'URL', about: 'URL prefix of the log (with --subject, default: the log of your service).' },
    state: { value: 'FILE', about: 'File for the newest checkpoint, and for the proofs of the subject.' },
    subject: { value: 'TYPE/ID', about: 'Subject to follow. This needs an account and the VRF key of the log.' },
    'vrf-key': { value: 'KEY', about: 'Public VRF key of the log (VRF+…), if the policy has no vrf line.' },
    'max-age': { value: 'SECONDS', about: 'Refuse a checkpoint that the witnesses of the policy dated earlier.' },
    follow: { about: 'Repeat until SIGINT or SIGTERM.' },
    interval: { value: 'SECONDS', about: `Pause between checks (default: ${DEFAULT_INTERVAL_S}).` },
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run(options, context) {
    const { complain, signal } = context;
    const look = textOf(options, 'subject') === undefined ? lookAt(options, context) : lookFor(options, context);
    const intervalMs = intervalOf(options) * 1000;
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

/** Returns one check of the log. @throws UsageError */
function lookAt(options: Options, { print, signal }: CommandContext): () => Promise<void> {
  const url = textOf(options, 'log');
  if (url === undefined) throw new UsageError('--log is missing. Name the URL prefix of the log.');
  const state = new MonitorState(stateFileOf(options));
  const policy = trustedPolicy(options);
  const show = hasFlag(options, 'json') ? asJson : asText;
  return async () => print(show(await lookAtLog(url, policy, state, signal)));
}

/** Returns one check of a subject. @throws UsageError */
function lookFor(options: Options, context: CommandContext): () => Promise<void> {
  const { print, signal } = context;
  const subject = subjectOf(textOf(options, 'subject') ?? '');
  const state = new SubjectState(stateFileOf(options), `${subject.type}/${subject.id}`);
  const policy = trustedPolicy(options);
  const vrfKey = textOf(options, 'vrf-key') ?? policy.vrfKey;
  if (vrfKey === null)
    throw new UsageError('The VRF key of the log is missing. Add --vrf-key KEY, or a vrf line to the policy.');
  const maxAge = numberOf(options, 'max-age', [1, MAX_AGE_S]);
  const trust = { policy, vrfKey, maxAgeMs: maxAge === undefined ? undefined : maxAge * 1000 };
  const show = hasFlag(options, 'json') ? subjectAsJson : subjectAsText;
  return async () => {
    // The proofs are verified here, not by the client.
    const look = await asCaller({ ...options, policy: undefined }, context, (caller) => {
      const url = textOf(options, 'log') ?? `${caller.baseUrl.replace(/\/+$/, '')}/log`;
      return lookAtSubject({ caller, subject, url, trust, state, signal });
    });
    print(show(look));
  };
}

function stateFileOf(options: Options): string {
  const file = textOf(options, 'state');
  if (file === undefined) throw new UsageError('--state is missing. Name a FILE for the newest checkpoint.');
  return file;
}

function intervalOf(options: Options): number {
  const text = textOf(options, 'interval');
  if (text === undefined) return DEFAULT_INTERVAL_S;
  const seconds = Number(text);
  if (/^\d{1,5}$/.test(text) && seconds >= 1 && seconds <= MAX_INTERVAL_S) return seconds;
  throw new UsageError(`--interval takes a number of seconds from 1 to ${MAX_INTERVAL_S}.`);
}

function asText({ verified, knownSize }: LogLook): string {
  const { log_origin: origin, tree_size: size, cosigned_by: cosigned } = shownCheckpoint(verified);
  const grown = knownSize === null ? 'first check' : `consistent with the ${knownSize} of the last check`;
  const times = cosigned.map(
    ({ witness, at }) => `, witnessed by ${visible(witness)}${at === null ? '' : ` at ${at}`}`,
  );
  return `${visible(origin)}: ${size} entries, ${grown}${times.join('')}.`;
}

function asJson({ verified, knownSize }: LogLook): string {
  return JSON.stringify({
    ...shownCheckpoint(verified),
    consistent_with: knownSize === null ? null : { tree_size: knownSize },
  });
}

function subjectAsText(look: SubjectLook): string {
  const proved = look.streams.map(({ what, number, isAllowed }) =>
    isAllowed ? `${what} ${number}` : `${what} not shown to you`,
  );
  return `${asText(look)} ${visible(look.subject)}: ${proved.join(', ')}.`;
}

function subjectAsJson(look: SubjectLook): string {
  const streams = look.streams.map(({ stream, isAllowed, number, logIndex }) => [
    stream,
    isAllowed ? { number, log_index: logIndex } : null,
  ]);
  const { verified, knownSize } = look;
  return JSON.stringify({
    ...shownCheckpoint(verified),
    consistent_with: knownSize === null ? null : { tree_size: knownSize },
    subject: look.subject,
    streams: Object.fromEntries(streams),
  });
}
