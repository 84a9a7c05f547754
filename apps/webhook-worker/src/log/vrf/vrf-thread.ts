import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { mapKey, parseVrfSecretKey, vrfInput } from '@iss/map';
import { loadSodiumGroup } from '@iss/map/sodium';
import type { VrfOrder, VrfReport, VrfSecret } from './vrf-threads';

/** A nice value: beside one busy thread, this thread gets a quarter of a core. */
const NICE = 5;

giveWay();
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

/** Lets requests, PostgreSQL and the integration go first, because an output takes about as long as a whole write. */
function giveWay(): void {
  // Elsewhere, this would change the priority of the whole process.
  if (process.platform !== 'linux') return;
  try {
    setPriority(NICE);
  } catch {
    // A sandbox may forbid it. The thread then has the same priority as all others.
  }
}
