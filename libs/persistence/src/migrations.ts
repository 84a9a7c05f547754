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

/** The text of a file of the folder, by its name without `.sql`. */
export function migrationText(file: string): string {
  return readFileSync(join(FOLDER, `${file}.sql`), 'utf8');
}
