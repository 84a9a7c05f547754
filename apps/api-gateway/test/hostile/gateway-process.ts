import { reservePort } from '../../../../tools/processes';
import { closeConnections, type Target } from '../../../../tools/testing/hostile/client';
import type { Watched } from '../../../../tools/testing/hostile/figures';
import { type Product, startProduct } from '../../../../tools/testing/product';

/** The built gateway as a process with its own database. */
export interface GatewayProcess extends Target, Watched, Pick<Product, 'issuer' | 'startWorker' | 'faults' | 'close'> {
  isAlive(): boolean;
}

/** Needs the built apps, which `npm test` builds. */
export async function startGatewayProcess(env: Record<string, string> = {}): Promise<GatewayProcess> {
  const metricsPort = await reservePort();
  const product = await startProduct({
    queue: 'postgresql',
    database: 'tests',
    gateways: 1,
    workers: 0,
    env: {
      SHUTDOWN_TIMEOUT_MS: '1000',
      METRICS_PORT: String(metricsPort),
      // Node's own default in a container of 512 MiB; deploy/chart sets 640.
      NODE_OPTIONS: '--max-old-space-size=256',
      ...env,
    },
  });
  const [gateway] = product.gateways;
  if (gateway === undefined) throw new Error('No gateway was started');
  const sql = await product.connect();
  const { issuer, token, startWorker, faults } = product;
  return {
    port: Number(new URL(gateway.url).port),
    metricsPort,
    pid: gateway.pid,
    sql,
    ...{ issuer, token, startWorker, faults },
    isAlive: () => gateway.isRunning,
    async close() {
      closeConnections();
      await sql.end();
      await product.close();
    },
  };
}
