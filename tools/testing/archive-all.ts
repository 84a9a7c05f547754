import { openArchive } from '@iss/archive';
import { ArchiveStore, openDatabase, ViewStore } from '@iss/persistence';
import { APP_ROLES, createLogger, createRegistry } from '@iss/platform';
import { Archiver } from '../../apps/webhook-worker/dist/archive/archiver.js';
import { ViewMaker } from '../../apps/webhook-worker/dist/log/views/view-maker.js';

/** Moves the texts of all versions that are not the latest to the archive at this URL, as a worker does. */
export async function archiveAll(databaseUrl: string, url: string, mirrorUrl?: string): Promise<void> {
  const archive = await openArchive({ url, mirrorUrl });
  const database = await openDatabase({
    url: databaseUrl,
    role: APP_ROLES.worker,
    poolSize: 2,
    applicationName: 'test-archive',
    archive,
  });
  const views = new ViewStore(database.sql);
  const viewMaker = new ViewMaker(views);
  const settings = { archiveAfterDays: 0, sweepIntervalMs: 0 };
  const logger = createLogger({ name: 'test-archive', level: 'silent' });
  const registry = createRegistry('test-archive');
  try {
    await new Archiver(
      database,
      new ArchiveStore(database.sql),
      views,
      viewMaker,
      registry,
      logger,
      settings,
    ).archiveDue();
  } finally {
    await viewMaker.close();
    await database.close();
    archive?.close();
  }
}
