import { type ArchiveSettings, openArchive, type TextArchive } from '@iss/archive';
import { AuditReader } from './database';
import { checkEntries, type EntriesTask } from './log/entries';
import { checkFacts, type FactsTask } from './facts/facts';
import { type ArchivedTask, checkArchived } from './facts/archived';
import type { Checked } from './findings';
import { checkLineages, type LineagesTask } from './facts/lineages';

/** An independent part of the audit. */
export type AuditTask = EntriesTask | FactsTask | LineagesTask | ArchivedTask;

/** The settings of a thread. */
export interface ThreadSettings {
  readonly url: string;
  readonly moment: string;
  /** Null if the archive is not read. */
  readonly archive: ArchiveSettings | null;
}

/** The places that tasks read. */
export interface Sources {
  readonly reader: AuditReader;
  readonly archive: TextArchive | null;
}

/** The answer of a thread to a task. */
export type ThreadAnswer = { readonly checked: Checked } | { readonly failure: string };

/** Opens the places that tasks read, as of the moment. */
export async function openSources({ url, moment, archive }: ThreadSettings): Promise<Sources> {
  return { reader: await AuditReader.open(url, moment), archive: await openArchive(archive) };
}

export async function runAuditTask({ reader, archive }: Sources, task: AuditTask): Promise<Checked> {
  switch (task.kind) {
    case 'entries':
      await reader.scanTables(false);
      return checkEntries(reader, task);
    case 'lineages':
      await reader.scanTables(false);
      return checkLineages(reader, task);
    case 'archived':
      await reader.scanTables(false);
      return checkArchived(reader, archive, task);
    case 'facts':
      await reader.scanTables(true);
      return { ...(await checkFacts(reader, task)), entries: 0, snapshots: 0 };
  }
}
