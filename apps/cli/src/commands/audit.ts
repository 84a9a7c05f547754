import { availableParallelism } from 'node:os';
import { audit as auditDatabase, type AuditProgress, type AuditResult } from '../audit/audit';
import { CHECKS, type Finding } from '../audit/findings';
import { type Command, Failure, type Options, textOf, UsageError } from '../command';
import { policyOf } from '../trust/policy';
import { visible } from '../visible';

/** Rows that a screen names. */
const SHOWN = 20;
const MAX_JOBS = 64;
const PROGRESS_MS = 2_000;

/** Recomputes everything that a database holds, with code that shares nothing with what wrote it. */
export const audit: Command = {
  summary:
    'Recomputes every hash, link, entry, tile and checkpoint in a database, and names each row that is not as it was logged.',
  usage: '[--database-url URL] [--policy FILE | --vkey KEY] [--from-index N] [--to-index N] [--jobs N] [--json]',
  options: {
    'database-url': { type: 'string' },
    policy: { type: 'string' },
    vkey: { type: 'string' },
    'from-index': { type: 'string' },
    'to-index': { type: 'string' },
    jobs: { type: 'string' },
    json: { type: 'boolean' },
  },
  async run(options, { env, print, complain }) {
    const url = textOf(options, 'database-url') ?? env().databaseUrl;
    const isTrusting = textOf(options, 'policy') === undefined && textOf(options, 'vkey') === undefined;
    const policy = isTrusting ? null : policyOf(options);
    const range = { from: countOf(options, 'from-index') ?? 0, to: countOf(options, 'to-index') };
    const jobs = Math.min(MAX_JOBS, Math.max(1, countOf(options, 'jobs') ?? availableParallelism()));
    const result = await auditDatabase(url, { range, policy, jobs, tell: progressTo(complain) });
    print(
      options['json'] === true
        ? JSON.stringify(asJson(result), null, 2)
        : asText(result, range.to !== null, isTrusting),
    );
    if (result.findingsCount > 0) {
      throw new Failure(
        `${result.findingsCount} found: the database is not what was logged (docs/operations/restore.md, "Audit").`,
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
  return ({ entries, of, doneBefore }) => {
    const nowMs = performance.now();
    if (nowMs - toldAtMs < PROGRESS_MS) return;
    toldAtMs = nowMs;
    const rate = Math.round((entries / (nowMs - startedAtMs)) * 1000);
    complain(`${entries} of ${of} entries, ${rate} a second; --from-index ${doneBefore} goes on from here`);
  };
}

function asJson(result: AuditResult): object {
  return {
    clean: result.findingsCount === 0,
    tree_size: result.treeSize,
    entries: result.entries,
    snapshots: result.snapshots,
    checkpoints: result.checkpoints,
    waiting: result.waiting,
    findings_count: result.findingsCount,
    findings: result.findings,
    notices_count: result.noticesCount,
    notices: result.notices,
  };
}

function asText(result: AuditResult, isRange: boolean, isTrusting: boolean): string {
  const { findings, findingsCount, notices, noticesCount, entries, snapshots, treeSize, checkpoints, waiting } = result;
  const scope = isRange
    ? 'Of this range the entries alone were looked at: the whole needs a run without --to-index.'
    : `${checkpoints} checkpoints verified, ${waiting} facts wait for their entry.`;
  return [
    `Looked at ${entries} entries of a log of ${treeSize}, ${snapshots} of them snapshots. ${scope}`,
    ...(isTrusting && !isRange
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
