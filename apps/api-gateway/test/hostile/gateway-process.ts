import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { reservePort } from '../../../../tools/processes';
import { closeConnections, type Target } from '../../../../tools/testing/hostile/client';
import type { Watched } from '../../../../tools/testing/hostile/figures';
import { type AppName, ProductProcess } from '../../../../tools/testing/product-process';
import { createTestDatabase } from '../../../../tools/testing/test-database';
import { startTestIssuer, type TestIssuer } from '../../../../tools/testing/test-issuer';

/** The built gateway as a process of its own, on a database of its own, and whatever else of the product is started beside it. */
export interface GatewayProcess extends Target, Watched {
  issuer: TestIssuer;
  /** Whether it has been running all the time. */
  isAlive(): boolean;
  /** The built webhook worker beside it. */
  startWorker(env: Record<string, string>): Promise<void>;
  /** Errors in the logs: whatever else was logged is no fault. */
  errors(): string[];
  close(): Promise<void>;
}

const STOP_MS = 5_000;

/** Needs the built apps, as `npm test` leaves them. */
export async function startGatewayProcess(env: Record<string, string> = {}): Promise<GatewayProcess> {
  const closings: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const closing of closings.splice(0).reverse()) await closing();
  };
  try {
    return { ...(await open(env, closings)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function open(
  env: Record<string, string>,
  closings: (() => Promise<unknown>)[],
): Promise<Omit<GatewayProcess, 'close'>> {
  const folder = mkdtempSync(join(tmpdir(), 'iss-hostile-'));
  closings.push(async () => rmSync(folder, { recursive: true, force: true }));
  const database = await createTestDatabase({ migrated: 'service and queue' });
  closings.push(() => database.drop());
  const sql = new Client({ connectionString: database.url });
  await sql.connect();
  closings.push(() => sql.end());
  const issuer = await startTestIssuer();
  closings.push(() => issuer.stop());
  const common = {
    NODE_ENV: 'production',
    DATABASE_URL: database.url,
    SECRETS_KEYS: `test:${randomBytes(32).toString('base64')}`,
    OIDC_ISSUER: issuer.oidcIssuer,
    OIDC_PROJECT_ID: issuer.projectId,
    SHUTDOWN_TIMEOUT_MS: '1000',
    // What Node takes by itself in a container of 512 MiB; deploy/chart gives it 640.
    NODE_OPTIONS: '--max-old-space-size=256',
  };
  const ends: string[] = [];
  const launch = async (app: AppName, own: Record<string, string>): Promise<ProductProcess> => {
    const onUnexpectedEnd = (how: string): unknown => ends.push(`${app} ended: ${how}`);
    const env = { ...common, ...own };
    const launched = await ProductProcess.prepare({ app, name: app, folder, env, onUnexpectedEnd });
    closings.push(() => launched.stop(STOP_MS));
    await launched.start();
    return launched;
  };
  const metricsPort = await reservePort();
  const gateway = await launch('api-gateway', { METRICS_PORT: String(metricsPort), ...env });
  closings.push(async () => closeConnections());
  const tokens = new Map<string, Promise<string>>();
  return {
    port: Number(new URL(gateway.url).port),
    metricsPort,
    pid: gateway.pid,
    sql,
    issuer,
    token(user) {
      const token = tokens.get(user) ?? issuer.mint(user);
      tokens.set(user, token);
      return token;
    },
    isAlive: () => ends.length === 0,
    async startWorker(own) {
      await launch('webhook-worker', own);
    },
    errors: () => [...ends, ...errorsIn(join(folder, 'api-gateway.log'))],
  };
}

/** Pino's level of an error. */
const ERROR = 50;

/** Anything that is no log line comes from a process that could not even log. */
function errorsIn(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !isBelowError(line));
}

function isBelowError(line: string): boolean {
  try {
    const { level }: { level?: unknown } = JSON.parse(line);
    return typeof level === 'number' && level < ERROR;
  } catch {
    return false;
  }
}
