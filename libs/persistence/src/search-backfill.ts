import { isJsonObject, parseStoredJson, type SearchTerms, searchTermsOf } from '@iss/domain';
import { migrationText } from './migrations';

/** Subjects of one batch: their latest envelopes lie in memory together. */
const BATCH = 50;

interface SubjectKey {
  subjectKey: string;
}

interface Subject extends SubjectKey {
  version: number;
  envelope: string | null;
}

/** A connection of the tables' owner. */
interface OwnersConnection {
  query<Row extends SubjectKey = Subject>(text: string, values?: unknown[]): Promise<Row[]>;
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
  // What comes later brings its own terms, or is written by a release that knows none: it must not be chased for ever.
  const lastKey = await lastSubjectKey(runner);
  for (;;) {
    const subjects = await runner.query(migrationText('23-search-terms.next'), [batch, lastKey]);
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

async function lastSubjectKey(runner: OwnersConnection): Promise<string> {
  const [last] = await runner.query<SubjectKey>(
    'SELECT subject_key AS "subjectKey" FROM subjects ORDER BY subject_key DESC LIMIT 1',
  );
  return last?.subjectKey ?? '0';
}

function termsOf({ envelope }: Subject): SearchTerms {
  const value = envelope === null ? null : parseStoredJson(envelope);
  return searchTermsOf(isJsonObject(value) ? value : {});
}
