import { parentPort, workerData } from 'node:worker_threads';
import { mapKey, parseVrfSecretKey, vrfInput } from '@iss/map';
import { loadSodiumGroup } from '@iss/map/sodium';
import type { VrfOrder, VrfReport, VrfSecret } from './vrf-threads';

const { origin, secret }: VrfSecret = workerData;
const opened = loadSodiumGroup().then((group) => ({ group, keys: parseVrfSecretKey(group, secret) }));

async function perform(places: VrfOrder): Promise<VrfReport> {
  const { group, keys } = await opened;
  const before = process.threadCpuUsage();
  const made = places.map(({ stream, number }) => mapKey(group, keys, vrfInput(origin, stream, number)));
  const { user, system } = process.threadCpuUsage(before);
  return { keys: made, processorSeconds: (user + system) / 1e6 };
}

parentPort?.on('message', (places: VrfOrder) => {
  perform(places).then((report) => parentPort?.postMessage(report), endThread);
});

/** The thread's order is then rejected. */
function endThread(error: unknown): never {
  throw error;
}
