import { parentPort } from 'node:worker_threads';
import { type PackOrder, runPackOrder } from './pack-work';

parentPort?.on('message', (order: PackOrder) => parentPort?.postMessage(runPackOrder(order)));
