import { isJsonObject, parseStoredJson, type SearchTerms, searchTermsOf } from '@iss/domain';
import { migrationText } from './migrations';

/** Subjects of one batch: their latest envelopes lie in memory together. */
const BATCH = 50;

interface Subject {
  subjectKey: string;
  version: number;
  envelope: string | null;
}

/** A connection of the tables' owner. */
interface OwnersConnection {
  query(text: string, values?: unknown[]): Promise<Subject[]>;
  startTransaction(): Promise<void>;
  commitTransaction(): Promise<void>;
  rollbackTransaction(): Promise<void>;
}

/**
 * Fills in by what subjects are found that were written before they could be, batch by batch, each in a transaction of its
 * own. May be ended at any moment and begun again, and goes on where it was. What is written meanwhile brings its own terms;
 * writers wait while a batch is written, not while it is read. One at a time may run.
 */
export async function backfillSearch(runner: OwnersConnection, batch = BATCH): Promise<void> {
  for (;;) {
    const subjects = await runner.query(migrationText('23-search-terms.next'), [batch]);
    const last = subjects.at(-1);
    if (last === undefined) break;
    const found = subjects.map((subject) => ({ ...subject, terms: termsOf(subject) }));
    const identifiers = found.flatMap(({ subjectKey, terms }) =>
      terms.identifiers.map((identifier) => ({ subjectKey, ...identifier })),
    );
    await runner.startTransaction();
    try {
      // Whoever appends a version is done, or has not looked yet: it sees what stands here, and takes away what is gone.
      await runner.query('LOCK TABLE subject_identifiers IN SHARE ROW EXCLUSIVE MODE');
      await runner.query(migrationText('23-search-terms.batch'), [
        found.map(({ subjectKey }) => subjectKey),
        found.map(({ version }) => version),
        found.map(({ terms }) => terms.name),
        identifiers.map(({ subjectKey }) => subjectKey),
        identifiers.map(({ scheme }) => scheme),
        identifiers.map(({ value }) => value),
        last.subjectKey,
      ]);
      await runner.commitTransaction();
    } catch (error) {
      await runner.rollbackTransaction();
      throw error;
    }
  }
  await runner.query('DELETE FROM search_backfill');
}

function termsOf({ envelope }: Subject): SearchTerms {
  const value = envelope === null ? null : parseStoredJson(envelope);
  return searchTermsOf(isJsonObject(value) ? value : {});
}
