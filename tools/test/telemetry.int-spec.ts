import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../root.ts';

it.each(['api-gateway', 'webhook-worker'])('the %s loads no OpenTelemetry SDK if telemetry is off', (app) => {
  const folder = mkdtempSync(join(tmpdir(), 'iss-loaded-'));
  const probe = join(folder, 'probe.cjs');
  writeFileSync(
    probe,
    `process.on('exit', () => console.log(JSON.stringify(Object.keys(require.cache).filter((file) => file.includes('node_modules')))));`,
  );
  // Without environment variables it exits once everything is loaded.
  const entry = join(repositoryRoot, 'apps', app, 'dist', 'main.js');
  const { stdout } = spawnSync(process.execPath, ['--require', probe, entry], { env: {}, encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  const loaded: string[] = JSON.parse(stdout);
  expect(loaded.filter((file) => file.includes('prom-client')).length).toBeGreaterThan(0);
  // prom-client loads @opentelemetry/api to look for traces. The API does nothing by itself.
  expect(loaded.filter((file) => /@opentelemetry\/(?!api\/)/.test(file))).toEqual([]);
});
