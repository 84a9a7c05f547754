import type { AuditReader } from './database';
import { checkEntries, type EntriesTask } from './log/entries';
import { checkFacts, type FactsTask } from './facts/facts';
import type { Checked } from './findings';
import { checkLineages, type LineagesTask } from './facts/lineages';

/** An independent part of the audit. */
export type AuditTask = EntriesTask | FactsTask | LineagesTask;

/** The settings of a thread. */
export interface ThreadSettings {
  readonly url: string;
  readonly moment: string;
}

/** The answer of a thread to a task. */
export type ThreadAnswer = { readonly checked: Checked } | { readonly failure: string };

export async function runTask(reader: AuditReader, task: AuditTask): Promise<Checked> {
  switch (task.kind) {
    case 'entries':
      await reader.scanTables(false);
      return checkEntries(reader, task);
    case 'lineages':
      await reader.scanTables(false);
      return checkLineages(reader, task);
    case 'facts':
      await reader.scanTables(true);
      return { ...(await checkFacts(reader, task)), entries: 0, snapshots: 0 };
  }
}
