import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The folder beside `src` and `dist`, so that both read the same files. */
const FOLDER = join(__dirname, '../migrations');

/** One step of the schema: `<number>-<name>.sql`, with a `….down.sql` that reverts it. */
export interface Migration {
  /** The file's name without `.sql`. */
  file: string;
  /** The name in the table `migrations`. It ends with a time in milliseconds, as TypeORM requires. */
  name: string;
}

/** Converts `1-initial-schema` to `InitialSchema1700000000001`. */
function nameOf(file: string): string {
  const words = file.replace(/(^\d+)?-(\w)/g, (_dash, _number, letter: string) => letter.toUpperCase());
  return `${words}${1_700_000_000_000 + parseInt(file, 10)}`;
}

/** All steps in the order of their numbers. */
export const MIGRATIONS: readonly Migration[] = readdirSync(FOLDER)
  .filter((entry) => /^\d+-[\w-]+\.sql$/.test(entry))
  .map((entry) => basename(entry, '.sql'))
  .sort((one, other) => parseInt(one, 10) - parseInt(other, 10))
  .map((file) => ({ file, name: nameOf(file) }));

/** Indexes that have files of their own and are built after the migrations. */
const INDEXES_IN_FILES = {
  snapshots_by_effective_time: '14-time-of-versions.index',
  subjects_by_name: '23-search-terms.index',
} as const;

/** Returns the text of a file in the folder. Its name is without `.sql`. */
export function migrationText(file: string): string {
  return readFileSync(join(FOLDER, `${file}.sql`), 'utf8');
}

/** A step as it runs while others write to the database. */
export interface OnlineStep {
  /** The statements of its transaction. */
  text: string;
  /** By the name of each index on an existing table: the statement that builds it after the transaction, without blocking writers. */
  indexes: ReadonlyMap<string, string>;
}

/**
 * Takes the indexes on existing tables out of a step, to be built concurrently. Otherwise its transaction would lock the table
 * while the index is built, which is long for a large table. An index that replaces another one in the same step stays in it,
 * because the table must never be without both.
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

/** Returns the statement for each index that is built beside writers, by name. It includes those with files of their own. */
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
