import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Beside `src` and `dist`, so that both read the same files. */
const FOLDER = join(__dirname, '../migrations');

/** One step of the schema: `<number>-<what-it-is>.sql`, and a `….down.sql` beside it that takes it back. */
export interface Migration {
  /** The file's name without `.sql`. */
  file: string;
  /** As the table `migrations` keeps it, with the time in milliseconds that TypeORM wants at its end. */
  name: string;
}

/** `1-initial-schema` is `InitialSchema1700000000001`. */
function nameOf(file: string): string {
  const words = file.replace(/(^\d+)?-(\w)/g, (_dash, _number, letter: string) => letter.toUpperCase());
  return `${words}${1_700_000_000_000 + parseInt(file, 10)}`;
}

/** All steps, in the order of their numbers. */
export const MIGRATIONS: readonly Migration[] = readdirSync(FOLDER)
  .filter((entry) => /^\d+-[\w-]+\.sql$/.test(entry))
  .map((entry) => basename(entry, '.sql'))
  .sort((one, other) => parseInt(one, 10) - parseInt(other, 10))
  .map((file) => ({ file, name: nameOf(file) }));

/** Indexes that a file of their own builds, after the migrations. */
const INDEXES_IN_FILES = {
  snapshots_by_effective_time: '14-time-of-versions.index',
  subjects_by_name: '23-search-terms.index',
} as const;

/** The text of a file of the folder, by its name without `.sql`. */
export function migrationText(file: string): string {
  return readFileSync(join(FOLDER, `${file}.sql`), 'utf8');
}

/** What a step does on a database that is written to meanwhile. */
export interface OnlineStep {
  /** In its transaction. */
  text: string;
  /** What each of its indexes of tables that were there before is built by afterwards, beside writers, by its name. */
  indexes: ReadonlyMap<string, string>;
}

/**
 * A step whose indexes of earlier tables are built concurrently: its transaction locks the table until its end, and to build
 * an index takes as long as the table is large. One that takes the place of another in the same step stays in it, since
 * nothing may be without both.
 */
export function onlineStep(text: string): OnlineStep {
  const indexes = new Map<string, string>();
  const rest = text.replace(
    /^CREATE (UNIQUE )?INDEX (\w+)(\s+ON (\w+)[^;]*);\n/gm,
    (whole, unique: string | undefined, name: string, definition: string, table: string) => {
      const isReplaced = new RegExp(`^DROP INDEX [^;]*\\b${name}\\b|DROP CONSTRAINT ${name}\\b`, 'm').test(text);
      if (isReplaced || new RegExp(`^CREATE TABLE (IF NOT EXISTS )?${table}\\b`, 'm').test(text)) return whole;
      indexes.set(name, `CREATE ${unique ?? ''}INDEX CONCURRENTLY ${name}${definition}`);
      return '';
    },
  );
  return { text: rest, indexes };
}

/** All indexes that are built beside writers, those included that a file of their own builds: what builds each, by name. */
export function indexesBesideWriters(): Map<string, string> {
  const indexes = new Map<string, string>();
  for (const { file } of MIGRATIONS) {
    const text = migrationText(file);
    for (const [, names = ''] of text.matchAll(/^DROP INDEX (?:IF EXISTS )?([\w\s,]+);/gm)) {
      for (const name of names.split(',')) indexes.delete(name.trim());
    }
    for (const [name, built] of onlineStep(text).indexes) indexes.set(name, built);
  }
  for (const [name, file] of Object.entries(INDEXES_IN_FILES)) indexes.set(name, migrationText(file));
  return indexes;
}
