import { fileURLToPath } from 'node:url';
import { archiveUrlFault } from '@iss/platform';
import { FileStore } from './file-store';
import type { ObjectStore } from './object-store';
import { S3Store } from './s3-store';

/** Opens the store of a URL that {@link archiveUrlFault} accepts. The client of S3 is loaded only for `s3:`. */
export async function openStore(url: string): Promise<ObjectStore> {
  const fault = archiveUrlFault(url);
  if (fault !== undefined) throw new Error(`The URL of the archive ${fault}`);
  const { protocol, hostname, pathname } = new URL(url);
  if (protocol === 'file:') return new FileStore(fileURLToPath(url));
  const prefix = decodeURIComponent(pathname).replace(/^\/+|\/+$/g, '');
  return S3Store.open(hostname, prefix === '' ? '' : `${prefix}/`);
}
