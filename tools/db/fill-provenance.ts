import { loadEnvironment } from '../environment.ts';
import { reportError, UserError } from '../processes.ts';

/** `npm run tool -- db/fill-provenance`: adds the provenance of versions from earlier releases. Runs as the owner of the tables. */
try {
  await loadEnvironment();
  const databaseUrl = process.env['DATABASE_URL'];
  if (!databaseUrl)
    throw new UserError('DATABASE_URL is missing: set it to the database, with the login that owns its tables.');
  const { fillProvenance } = await import('@iss/persistence');
  const { versions, flagged, damaged } = await fillProvenance(databaseUrl);
  console.log(
    `${versions} versions got their provenance, ${flagged} subjects are marked for missing or carried evidence.`,
  );
  for (const snapshotId of new Set(damaged))
    console.error(`Snapshot ${snapshotId} is damaged: restore it (docs/operations/runbooks.md), then run this again.`);
  if (damaged.length > 0) process.exitCode = 1;
} catch (error) {
  process.exitCode = reportError(error);
}
