import type { ArchiveSettings } from '@iss/archive';
import { type Policy, TILE_WIDTH } from '@iss/tlog';
import { UsageError } from '../command';
import { AuditReader, isText } from './database';
import { checkFeeds } from './log/feeds';
import { checkMap } from './log/map';
import { checkVrfKeys } from './log/vrf-keys';
import { checkLoggedFacts, checkOwnersAndGrants } from './facts/facts';
import { addFound, type Found, nothingFound, report } from './findings';
import { checkGuards } from './schema/guards';
import { checkWaiting } from './facts/lineages';
import { checkRecords } from './log/records';
import { checkReferences } from './facts/references';
import { openRunners, type Runner } from './runners';
import type { AuditTask } from './tasks';
import { checkCheckpoints, checkTree, signedSizes, type StoredTree, storedTree } from './log/tree';

/** Entries per task, about two seconds of work. */
const ENTRIES = 256 * TILE_WIDTH;
/** Subjects per task that looks for unlogged facts. */
const SUBJECTS = 250_000;
/** Subjects per task that reads their snapshots. */
const LINEAGES = 20_000;

export interface AuditRange {
  /** The first entry to check. */
  readonly from: number;
  /** The audit checks only entries before this index, and nothing else. Null checks everything. */
  readonly to: number | null;
}

export interface AuditResult extends Found {
  /** Null if the log was skipped or its tree is gone. */
  treeSize: number | null;
  entries: number;
  snapshots: number;
  checkpoints: number;
  waiting: number;
}

export interface AuditProgress {
  readonly entries: number;
  /** The number of entries to check; 0 without the log. */
  readonly of: number;
  readonly snapshots: number;
  /** All entries before this one are checked. */
  readonly doneBefore: number;
}

/**
 * Recomputes the contents of a database as of one moment, with `jobs` parallel readers.
 *
 * @throws UsageError if the database cannot be read
 */
export async function audit(
  url: string,
  {
    range,
    withLog,
    policy,
    vrfSecret,
    archive,
    jobs,
    tell,
  }: {
    range: AuditRange;
    /** If false, the audit checks the database without its log. */
    withLog: boolean;
    policy: Policy | null;
    /** Computes the keys of the map with this secret key. */
    vrfSecret: string | null;
    /** Also reads the texts in this archive. */
    archive: ArchiveSettings | null;
    jobs: number;
    tell: (progress: AuditProgress) => void;
  },
): Promise<AuditResult> {
  const reader = await AuditReader.open(url, null);
  let runners: Runner[] = [];
  try {
    await requireReadable(reader);
    const result: AuditResult = {
      ...nothingFound(),
      treeSize: null,
      entries: 0,
      snapshots: 0,
      checkpoints: 0,
      waiting: 0,
    };
    const tree = withLog ? await storedTree(reader) : null;
    const tasks: AuditTask[] = [];
    const place = { from: 0, to: 0 };
    if (tree === null) {
      if (withLog) report(result, 'root', 'log_tree', 'it is empty: the tree of the log is gone');
      tasks.push(...(await tasksBySubject(reader, 'lineages', LINEAGES)));
    } else {
      result.treeSize = tree.size;
      result.waiting = Number(
        (
          await reader.rows('SELECT (SELECT count(*) FROM log_waiting) + (SELECT count(*) FROM records_waiting)')
        )[0]?.[0],
      );
      place.to = Math.min(range.to ?? tree.size, tree.size);
      place.from = Math.min(Math.floor(range.from / TILE_WIDTH) * TILE_WIDTH, place.to);
      const signed = await signedSizes(reader);
      for (let at = place.from; at < place.to; at += ENTRIES) {
        const to = Math.min(at + ENTRIES, place.to);
        tasks.push({ kind: 'entries', from: at, to, treeSize: tree.size, signed });
      }
      if (range.to === null) tasks.push(...(await tasksBySubject(reader, 'facts', SUBJECTS)));
    }
    if (archive !== null && range.to === null) tasks.push(...(await tasksBySubject(reader, 'archived', LINEAGES)));
    runners = await openRunners({ url, moment: reader.moment, archive }, Math.min(jobs, Math.max(1, tasks.length)));
    const rest = range.to === null ? checkRest(reader, tree, { policy, vrfSecret }, result) : Promise.resolve();
    await Promise.all([rest, runAll(runners, tasks, result, { ...place, of: place.to - place.from, tell })]);
    if (archive === null || range.to !== null) result.unreplayed += result.archivedUpdates;
    return result;
  } finally {
    await Promise.all(runners.map((runner) => runner.close()));
    await reader.close();
  }
}

/** Requires that row-level security hides no rows, because hidden rows would look deleted. @throws UsageError */
async function requireReadable(reader: AuditReader): Promise<void> {
  const [row] = await reader.rows(
    `SELECT row_security_active('public.snapshots') AND NOT pg_has_role(current_user, 'iss_app', 'USAGE')`,
  );
  if (row?.[0] === 't') {
    throw new UsageError(
      'Row-level security hides snapshots from this login. Run ALTER ROLE … BYPASSRLS, or GRANT iss_app TO the login.',
    );
  }
}

async function tasksBySubject(
  reader: AuditReader,
  kind: 'facts' | 'lineages' | 'archived',
  size: number,
): Promise<AuditTask[]> {
  const [row] = await reader.rows('SELECT min(subject_key), max(subject_key) FROM snapshots');
  const tasks: AuditTask[] = [];
  const [first, last] = row ?? [];
  if (!isText(first) || !isText(last)) return tasks;
  const end = Number(last) + 1;
  for (let at = Number(first); at < end; at += size) tasks.push({ kind, from: at, to: Math.min(at + size, end) });
  return tasks;
}

async function checkRest(
  reader: AuditReader,
  tree: StoredTree | null,
  { policy, vrfSecret }: { policy: Policy | null; vrfSecret: string | null },
  result: AuditResult,
): Promise<void> {
  if (tree !== null) {
    addFound(result, await checkTree(reader, tree));
    const checkpoints = await checkCheckpoints(reader, tree, policy);
    addFound(result, checkpoints);
    result.checkpoints = checkpoints.checkpoints;
    addFound(result, await checkWaiting(reader));
  }
  await reader.scanTables(true);
  if (tree !== null) {
    addFound(result, await checkLoggedFacts(reader));
    addFound(result, await checkMap(reader));
    if (vrfSecret !== null) await checkVrfKeys(reader, result, vrfSecret);
    addFound(result, await checkRecords(reader));
    addFound(result, await checkFeeds(reader));
  }
  addFound(result, await checkOwnersAndGrants(reader));
  addFound(result, await checkReferences(reader));
  addFound(result, await checkGuards(reader));
}

async function runAll(
  runners: readonly Runner[],
  tasks: readonly AuditTask[],
  result: AuditResult,
  { of, from, to, tell }: { of: number; from: number; to: number; tell: (progress: AuditProgress) => void },
): Promise<void> {
  const left = [...tasks];
  /** The first entries of unfinished tasks. */
  const open = new Set(tasks.flatMap((task) => (task.kind === 'entries' ? [task.from] : [])));
  const work = async (runner: Runner): Promise<void> => {
    for (let task = left.shift(); task !== undefined; task = left.shift()) {
      const checked = await runner.run(task);
      addFound(result, checked);
      result.entries += checked.entries;
      result.snapshots += checked.snapshots;
      if (task.kind === 'entries') open.delete(task.from);
      tell({
        entries: result.entries,
        snapshots: result.snapshots,
        of,
        doneBefore: open.size === 0 ? to : Math.min(...open, to),
      });
    }
  };
  tell({ entries: 0, snapshots: 0, of, doneBefore: from });
  await Promise.all(runners.map(work));
}
