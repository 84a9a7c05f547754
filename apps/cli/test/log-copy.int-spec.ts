import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  LogCheckpointStore,
  LogCopyStore,
  LogTileStore,
  MapReadStore,
  openDatabase,
  PublicEntryStore,
} from '@iss/persistence';
import { createLogger } from '@iss/platform';
import { Registry } from 'prom-client';
import { LogCopy } from '../../webhook-worker/src/log/log-copy';
import { LogMetrics } from '../../webhook-worker/src/log/log-metrics';
import { serveLog } from './testing/log-server';
import { RealLog } from './testing/real-log';
import { iss } from './testing/run-iss';

it('monitor and verify work with a file server that answers 404 or 403 for missing files', async () => {
  let status = 404;
  const folder = mkdtempSync(join(tmpdir(), 'iss-log-copy-'));
  const server = await serveLog();
  const log = await RealLog.create();
  const database = await openDatabase({ url: log.url, poolSize: 2, applicationName: 'test-copy' });
  try {
    const { sql } = database;
    const logger = createLogger({ name: 'test', level: 'silent' });
    const copy = new LogCopy(
      new LogCheckpointStore(sql),
      new LogTileStore(sql),
      new PublicEntryStore(sql),
      new MapReadStore(sql),
      new LogCopyStore(sql),
      new LogMetrics(new Registry()),
      logger,
      { logPublishUrl: String(pathToFileURL(folder)) },
    );
    await log.query(`INSERT INTO tenants (tenant_id, name) VALUES ('acme', 'Acme')`);
    const grow = async (versions: number): Promise<void> => {
      await log.addLineage(`subject-${versions}`, versions);
      await log.publish();
      await copy.copy();
      const read = (path: string) =>
        existsSync(join(folder, path)) ? readFileSync(join(folder, path)) : { status, body: 'not there' };
      server.show({ checkpoint: String(readFileSync(join(folder, 'checkpoint'))), read });
    };
    const trusted = ['--log', server.url, '--vkey', log.vkey];
    const monitor = () => iss(['monitor', ...trusted, '--state', join(folder, 'state')]);
    await grow(3);
    expect((await monitor()).printed).toContain('4 entries, first check.');
    writeFileSync(join(folder, 'since'), readFileSync(join(folder, 'checkpoint')));
    await grow(600);
    writeFileSync(join(folder, 'bundle'), await log.bundle('subject-600'));
    for (status of [404, 403]) {
      writeFileSync(join(folder, 'state'), readFileSync(join(folder, 'since')));
      expect((await monitor()).printed).toContain('604 entries, consistent with the 4 of the last check.');
      const words = ['verify', join(folder, 'bundle'), ...trusted, '--since', join(folder, 'since')];
      expect(await iss(words)).toMatchObject({ exitCode: 0 });
    }
  } finally {
    await database.close();
    await log.close();
    server.close();
    rmSync(folder, { recursive: true });
  }
});
