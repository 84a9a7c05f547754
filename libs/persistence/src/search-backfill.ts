import { isJsonObject, parseStoredJson, type SearchTerms, searchTermsOf } from '@iss/domain';
import { migrationText } from './migrations';

/** Subjects per batch. Their latest envelopes are in memory together. */
const BATCH = 50;

interface SubjectKey {
  subjectKey: string;
}

interface Subject extends SubjectKey {
  version: number;
  envelope: string | null;
}

/** A connection with the login of the tables' owner. */
interface OwnersConnection {
  query<Row extends SubjectKey = Subject>(text: string, values?: unknown[]): Promise<Row[]>;
  startTransaction(): Promise<void>;
  commitTransaction(): Promise<void>;
  rollbackTransaction(): Promise<void>;
}

/**
 * Fills in the search terms of older subjects, batch by batch, each in a transaction of its own. It may be interrupted at any
 * moment, and the next call continues. Concurrent writes bring their own terms; they wait while a batch is written, but not while
 * it is read. Only one call may run at a time.
 */
export async function backfillSearch(runner: OwnersConnection, batch = BATCH): Promise<void> {
  // The bound of the loop, because writes of an earlier release could otherwise prolong it for ever. All other writes bring their
  // own terms.
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
      // A concurrent append is committed, or has not looked yet. In the second case it sees these rows, and removes obsolete
      // ones.
      await runner.query('LOCK TABLE subject_identifiers IN SHARE ROW EXCLUSIVE MODE');
      await runner.query(migrationText('23-search-terms.batch'), [
        found.map(({ subjectKey }) => subjectKey),
        found.map(({ version }) => version),
        found.map(({ terms }) => terms.name),
        identifiers.map(({ subjectKey }) => subjectKey),
        identifiers.map(({ scheme }) => scheme),
        identifiers.map(({ value }) => value),
        last.subjectKey,
        found.map(({ terms }) => terms.displayName),
        found.map(({ terms }) => terms.namePath),
        identifiers.map(({ path }) => path),
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
