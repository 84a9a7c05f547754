import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newWebhookSecret } from '@iss/domain';
import { Failure } from '../command';
import { systemCode } from '../files';

const FILE = 'listen-secret';

/** What this user's events are signed with: made the first time, and the same from then on, so that a receiver is told once. */
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
