import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newWebhookSecret } from '@iss/domain';
import { Failure } from '../command';
import { systemCode } from '../files';

const FILE = 'listen-secret';

/** Returns the signing secret of this user. It is created once and stays the same, so that receivers need one setting. */
export function listenSecret(folder: string): string {
  const file = join(folder, FILE);
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (systemCode(error) !== 'ENOENT')
      throw new Failure(`${file} cannot be read (${systemCode(error) ?? String(error)}).`);
  }
  const secret = newWebhookSecret();
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, `${secret}\n`, { mode: 0o600, flush: true });
  } catch (error) {
    throw new Failure(`${file} cannot be written (${systemCode(error) ?? String(error)}).`);
  }
  return secret;
}
