import { availableParallelism } from 'node:os';
import { audit as auditDatabase, type AuditProgress, type AuditResult } from '../audit/audit';
import { CHECKS, type Finding } from '../audit/findings';
import { type Command, Failure, hasFlag, type Options, textOf, UsageError } from '../command';
import { archiveSettings } from './operators/archive';
import { trustedPolicy, TRUST_OPTIONS } from '../trust/policy';
import { visible } from '../visible';
import { JSON_OPTION } from '../output';

/** The most rows that text output names. */
const SHOWN = 20;
const MAX_JOBS = 64;
const PROGRESS_MS = 2_000;

export const audit: Command = {
  about:
    'It reads one consistent state with independent code, and changes nothing. A difference is listed with its row, and the exit code is 1. Unusual but valid rows are listed as notices. The exit code is 2 if the database cannot be read. Progress is written to standard error, with the --from-index that continues an interrupted run.',
  usage:
    '[--database-url URL] [--policy FILE | --vkey KEY | --no-log] [--vrf] [--archive] [--from-index N] [--to-index N] [--jobs N]',
  options: {
    'database-url': { value: 'URL', about: 'Database (default: DATABASE_URL).' },
    ...TRUST_OPTIONS,
    vrf: { about: 'Compute each key of the map with LOG_VRF_KEY, some 3,000 a second.' },
    'no-log': { about: 'Skip the log.' },
    archive: {
      about: 'Also read every text in the archive (ARCHIVE_URL), compare it with its hash, and replay its update.',
    },
    'from-index': { value: 'N', about: 'First entry to check.' },
    'to-index': { value: 'N', about: 'Check only entries before this one, and nothing else.' },
    jobs: { value: 'N', about: 'Parallel readers (default: one per processor).' },
    ...JSON_OPTION,
  },
  async run(options, { env, variables, print, complain }) {
    const url = textOf(options, 'database-url') ?? (await env()).databaseUrl;
    const isTrusting = textOf(options, 'policy') === undefined && textOf(options, 'vkey') === undefined;
    const withLog = !hasFlag(options, 'no-log');
    const range = { from: countOf(options, 'from-index') ?? 0, to: countOf(options, 'to-index') };
    if (!withLog && (!isTrusting || hasFlag(options, 'vrf') || range.from > 0 || range.to !== null)) {
      throw new UsageError(
        '--no-log skips the log, so it excludes --policy, --vkey, --vrf, --from-index and --to-index.',
      );
    }
    const policy = isTrusting ? null : trustedPolicy(options);
    const vrfSecret = hasFlag(options, 'vrf') ? (variables['LOG_VRF_KEY'] ?? '') : null;
    if (vrfSecret === '') throw new UsageError('--vrf needs LOG_VRF_KEY, the secret key of workers and gateways.');
    const jobs = Math.min(MAX_JOBS, Math.max(1, countOf(options, 'jobs') ?? availableParallelism()));
    const archive = hasFlag(options, 'archive') ? await archiveSettings(env) : null;
    const tell = progressTo(complain);
    const result = await auditDatabase(url, { range, withLog, policy, vrfSecret, archive, jobs, tell });
    print(
      hasFlag(options, 'json')
        ? JSON.stringify(asJson(result, withLog))
        : asText(result, { withLog, withArchive: archive !== null, isRange: range.to !== null, isTrusting }),
    );
    if (result.findingsCount > 0) {
      throw new Failure(
        `Findings: ${result.findingsCount}. The database ${withLog ? 'differs from the log' : 'has faults'}. docs/operations/restore.md, "Audit", says what to do.`,
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
        : `${entries} of ${of} entries, ${rate(entries)}; continue from here with --from-index ${doneBefore}`,
    );
  };
}

/** Puts the counts first, because the lists after them can be long. */
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
    archived_texts: result.archived,
    archived_texts_read: result.readTexts,
    findings_count: result.findingsCount,
    notices_count: result.noticesCount,
    findings_by_check: result.countByCheck,
    findings: result.findings,
    notices: result.notices,
  };
}

function asText(
  result: AuditResult,
  {
    withLog,
    withArchive,
    isRange,
    isTrusting,
  }: { withLog: boolean; withArchive: boolean; isRange: boolean; isTrusting: boolean },
): string {
  const { findings, findingsCount, notices, noticesCount, entries, snapshots, treeSize, checkpoints, waiting } = result;
  const scope = isRange
    ? 'Only the entries of this range were checked. Run without --to-index to check everything.'
    : `${checkpoints} checkpoints verified, ${waiting} facts wait for their log entry.`;
  return [
    treeSize === null
      ? `Checked ${snapshots} snapshots${withLog ? ', but no log, because its tree is gone.' : '. The log was skipped, so a change is not found if everything that names the row was changed too.'}`
      : `Checked ${entries} of ${treeSize} log entries, ${snapshots} of them snapshots. ${scope}`,
    `Replayed ${result.replayed} updates. ${result.unreplayed} could not be replayed.`,
    ...(withArchive
      ? [`Verified ${result.readTexts} archived texts. Damaged: ${result.countByCheck.archived ?? 0}.`]
      : result.archived > 0
        ? [`${result.archived} texts are in the archive. --archive reads them and replays their updates.`]
        : []),
    ...(withLog && isTrusting && !isRange
      ? ['Signatures were verified with keys from the database. Use --policy FILE to name the keys that you trust.']
      : []),
    ...(noticesCount > 0 ? ['', `Notices: ${noticesCount}`] : []),
    ...notices.slice(0, SHOWN).map(({ where, what }) => `  ${visible(`${where}: ${what}`)}`),
    ...(findingsCount > 0 ? ['', `Findings: ${findingsCount}`] : ['No faults found.']),
    ...findings.slice(0, SHOWN).map(lineOf),
    ...(findingsCount > SHOWN
      ? [`  and ${findingsCount - SHOWN} more; --json names the first ${findings.length}`]
      : []),
  ].join('\n');
}

function lineOf({ check, where, what }: Finding): string {
  return `  ${visible(`${where}: ${CHECKS[check]}: ${what}`)}`;
}
