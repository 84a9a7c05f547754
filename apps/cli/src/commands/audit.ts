import { availableParallelism } from 'node:os';
import { audit as auditDatabase, type AuditProgress, type AuditResult } from '../audit/audit';
import { CHECKS, type Finding } from '../audit/findings';
import { type Command, Failure, hasFlag, type Options, textOf, UsageError } from '../command';
import { policyOf, TRUST_OPTIONS } from '../trust/policy';
import { visible } from '../visible';

/** Rows that a screen names. */
const SHOWN = 20;
const MAX_JOBS = 64;
const PROGRESS_MS = 2_000;

/** Recomputes everything that a database holds, with code that shares nothing with what wrote it. */
export const audit: Command = {
  usage:
    '[--database-url URL] [--policy FILE | --vkey KEY | --no-log] [--from-index N] [--to-index N] [--jobs N] [--json]',
  options: {
    'database-url': { value: 'URL', about: 'The database: DATABASE_URL where it is left out.' },
    ...TRUST_OPTIONS,
    'no-log': { about: 'Leaves out the log.' },
    'from-index': { value: 'N', about: 'Begins with this entry.' },
    'to-index': { value: 'N', about: 'Looks at the entries before this one, and at nothing else.' },
    jobs: { value: 'N', about: 'How many read at once: as many as there are processors.' },
    json: { about: 'One line of JSON.' },
  },
  async run(options, { env, print, complain }) {
    const url = textOf(options, 'database-url') ?? (await env()).databaseUrl;
    const isTrusting = textOf(options, 'policy') === undefined && textOf(options, 'vkey') === undefined;
    const withLog = !hasFlag(options, 'no-log');
    const range = { from: countOf(options, 'from-index') ?? 0, to: countOf(options, 'to-index') };
    if (!withLog && (!isTrusting || range.from > 0 || range.to !== null)) {
      throw new UsageError(
        '--no-log leaves out the log, to which --policy, --vkey, --from-index and --to-index belong.',
      );
    }
    const policy = isTrusting ? null : policyOf(options);
    const jobs = Math.min(MAX_JOBS, Math.max(1, countOf(options, 'jobs') ?? availableParallelism()));
    const result = await auditDatabase(url, { range, withLog, policy, jobs, tell: progressTo(complain) });
    print(
      hasFlag(options, 'json')
        ? JSON.stringify(asJson(result, withLog))
        : asText(result, { withLog, isRange: range.to !== null, isTrusting }),
    );
    if (result.findingsCount > 0) {
      throw new Failure(
        `${result.findingsCount} found: the database is not ${withLog ? 'what was logged' : 'whole'} (docs/operations/restore.md, "Audit").`,
      );
    }
  },
};

function countOf(options: Options, name: string): number | null {
  const text = textOf(options, name);
  if (text === undefined) return null;
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--${name} takes a whole number.`);
  return Number(text);
}

function progressTo(complain: (text: string) => void): (progress: AuditProgress) => void {
  const startedAtMs = performance.now();
  let toldAtMs = startedAtMs;
  return ({ entries, snapshots, of, doneBefore }) => {
    const nowMs = performance.now();
    if (nowMs - toldAtMs < PROGRESS_MS) return;
    toldAtMs = nowMs;
    const rate = (count: number): string => `${Math.round((count / (nowMs - startedAtMs)) * 1000)} a second`;
    complain(
      of === 0
        ? `${snapshots} snapshots, ${rate(snapshots)}`
        : `${entries} of ${of} entries, ${rate(entries)}; --from-index ${doneBefore} goes on from here`,
    );
  };
}

/** One line, the counts first: what follows them may be long. */
function asJson(result: AuditResult, withLog: boolean): object {
  return {
    clean: result.findingsCount === 0,
    log: withLog,
    tree_size: result.treeSize,
    entries: result.entries,
    snapshots: result.snapshots,
    checkpoints: result.checkpoints,
    waiting: result.waiting,
    updates_replayed: result.replayed,
    updates_not_replayed: result.unreplayed,
    findings_count: result.findingsCount,
    notices_count: result.noticesCount,
    findings_by_check: result.countByCheck,
    findings: result.findings,
    notices: result.notices,
  };
}

function asText(
  result: AuditResult,
  { withLog, isRange, isTrusting }: { withLog: boolean; isRange: boolean; isTrusting: boolean },
): string {
  const { findings, findingsCount, notices, noticesCount, entries, snapshots, treeSize, checkpoints, waiting } = result;
  const scope = isRange
    ? 'Of this range the entries alone were looked at: the whole needs a run without --to-index.'
    : `${checkpoints} checkpoints verified, ${waiting} facts wait for their entry.`;
  return [
    treeSize === null
      ? `Looked at ${snapshots} snapshots${withLog ? ', and at no log: its tree is gone.' : '. The log was left out: what was changed together with all that names it is not found.'}`
      : `Looked at ${entries} entries of a log of ${treeSize}, ${snapshots} of them snapshots. ${scope}`,
    `The operations of ${result.replayed} updates were applied again, and those of ${result.unreplayed} could not be.`,
    ...(withLog && isTrusting && !isRange
      ? ['Signatures were verified by the keys in the database: --policy FILE says whom you trust.']
      : []),
    ...(noticesCount > 0 ? ['', `Worth a look: ${noticesCount}`] : []),
    ...notices.slice(0, SHOWN).map(({ where, what }) => `  ${visible(`${where}: ${what}`)}`),
    ...(findingsCount > 0 ? ['', `Wrong: ${findingsCount}`] : ['Nothing is wrong.']),
    ...findings.slice(0, SHOWN).map(lineOf),
    ...(findingsCount > SHOWN
      ? [`  and ${findingsCount - SHOWN} more; --json names the first ${findings.length}`]
      : []),
  ].join('\n');
}

function lineOf({ check, where, what }: Finding): string {
  return `  ${visible(`${where}: ${CHECKS[check]}: ${what}`)}`;
}
