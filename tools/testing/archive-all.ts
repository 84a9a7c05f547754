import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openArchive } from '@iss/archive';
import { ArchiveStore, openDatabase, ViewStore } from '@iss/persistence';
import { APP_ROLES, createLogger, createRegistry } from '@iss/platform';
import { Archiver } from '../../apps/webhook-worker/dist/archive/archiver.js';
import { ViewMaker } from '../../apps/webhook-worker/dist/log/views/view-maker.js';

/** Moves texts to an archive, as a worker does. */
export interface TestArchiver {
  /** Archives the texts of all versions that are not the latest. */
  archiveDue(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the part of a worker that archives, with an age of 0 days. */
export async function openArchiver(databaseUrl: string, url: string, mirrorUrl?: string): Promise<TestArchiver> {
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
  const archiver = new Archiver(database, new ArchiveStore(database.sql), views, viewMaker, registry, logger, settings);
  return {
    archiveDue: () => archiver.archiveDue(),
    close: async () => {
      await viewMaker.close();
      await database.close();
      archive?.close();
    },
  };
}

/** Archives the texts of all versions that are not the latest, once. */
export async function archiveAll(databaseUrl: string, url: string, mirrorUrl?: string): Promise<void> {
  const archiver = await openArchiver(databaseUrl, url, mirrorUrl);
  try {
    await archiver.archiveDue();
  } finally {
    await archiver.close();
  }
}

/** A new folder for an archive. */
export async function makeArchiveFolder(): Promise<{ url: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'iss-archive-'));
  return { url: String(pathToFileURL(folder)), remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Archives everything before each GET, so that every read finds its texts in the archive. */
export function archiveBeforeReads(server: Server, archiver: TestArchiver): void {
  const answering = server.listeners('request');
  server.removeAllListeners('request');
  let archived = Promise.resolve();
  server.on('request', (request, response) => {
    const answer = (): void => {
      for (const listener of answering) listener.call(server, request, response);
    };
    if (request.method !== 'GET') return answer();
    archived = archived.then(() => archiver.archiveDue()).catch(() => undefined);
    archived.then(answer, () => response.destroy());
  });
}
