import { loadEnvironment } from '../environment.ts';
import { reportError, UserError } from '../processes.ts';

/** `npm run tool -- db/fill-hashes`: adds the hashes after an import without hashes. Runs as the owner of the tables. */
try {
  await loadEnvironment();
  const databaseUrl = process.env['DATABASE_URL'];
  if (!databaseUrl)
    throw new UserError('DATABASE_URL is missing: set it to the database, with the login that owns its tables.');
  const { fillHashes } = await import('@iss/persistence');
  const { hashes, links, notCanonical } = await fillHashes(databaseUrl);
  console.log(`${hashes} snapshots got their envelope_hash, ${links} their prev_hash.`);
  if (notCanonical.length > 0) {
    throw new UserError(
      `${notCanonical.length} snapshots have a text that is not canonical (RFC 8785), so no hash of them would verify: ` +
        `${notCanonical.join(', ')}.`,
    );
  }
} catch (error) {
  process.exitCode = reportError(error);
}
