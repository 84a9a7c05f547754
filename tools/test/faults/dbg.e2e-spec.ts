import { startProduct } from '../../testing/product.ts';
import { Scene } from './scene.ts';
import { waitFor } from '../../testing/wait-for.ts';
import { writeFileSync } from 'node:fs';
jest.setTimeout(100000);
it('dbg', async () => {
  writeFileSync('/tmp/dbg-hook.cjs', `
  process.on('SIGTERM', () => setInterval(() => { 
    const hs = process._getActiveHandles().map(h => h.constructor.name + ':' + (h.remotePort||'') + ':' + (h.localPort||'') + ':' + (h._httpMessage ? 'msg' + h._httpMessage.finished : '') + ':' + (h.bytesRead||0) + '/' + (h.bytesWritten||0));
    console.error(JSON.stringify({level:40, msg: Date.now() + ' ' + hs.join(' ') })) }, 1000));`);
  const product = await startProduct({ queue: 'postgresql', gateways: 1, workers: 1, env: { SHUTDOWN_TIMEOUT_MS: '8000', NODE_OPTIONS: '--require /tmp/dbg-hook.cjs' } });
  const scene = new Scene(product);
  const [tenant] = await scene.tenant('a');
  const [gateway] = product.gateways;
  const lock = await product.connect();
  await lock.query('BEGIN');
  await lock.query('LOCK TABLE outbox_events IN EXCLUSIVE MODE');
  const asked = [1,2,3].map((n) => tenant.create(tenant.owner, 'x' + n, gateway));
  await new Promise((r) => setTimeout(r, 1500));
  const ended = gateway!.terminate();
  await waitFor(() => fetch(`${gateway!.url}/health`).then(() => false, () => true), {});
  await lock.query('COMMIT');
  console.log((await Promise.all(asked)).map((a) => a.status + ' ' + a.headers.get('connection')), await ended, product.logTail());
  await lock.end();
  await scene.end();
  await product.close();
});
