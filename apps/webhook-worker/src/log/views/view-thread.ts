import { parentPort } from 'node:worker_threads';
import type { VersionWithoutView } from '@iss/persistence';
import { commitVersions } from './commit-versions';

parentPort?.on('message', (versions: VersionWithoutView[]) => parentPort?.postMessage(commitVersions(versions)));
