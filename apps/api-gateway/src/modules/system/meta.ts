import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseStoredJson } from '@iss/domain';
import type { Meta } from '@iss/contract';
import type { GatewaySettings } from '../../settings';

const BOOTED_AT = new Date().toISOString();

/** Returns the version of this package. The path is correct from `src` and from `dist`. */
function readVersion(): string {
  const manifest: unknown = parseStoredJson(readFileSync(path.join(__dirname, '../../../package.json'), 'utf8'));
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return isManifest ? String(manifest.version) : 'unknown';
}

const VERSION = readVersion();

export function readMeta(settings: GatewaySettings): Meta {
  return {
    service: 'identity-state-service',
    ts: new Date().toISOString(),
    version: VERSION,
    node: process.version,
    env: settings.appEnv,
    gitSha: settings.build.gitSha ?? 'unknown',
    // Without a build stamp, the start of the process is the latest possible build time.
    builtAt: settings.build.at ?? BOOTED_AT,
  };
}
