import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CheckpointFile } from './checkpoint-file';

const folder = mkdtempSync(join(tmpdir(), 'iss-checkpoint-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('has nothing before the first note, and then the newest one, which only its user can read', async () => {
  const path = join(folder, 'checkpoint');
  const file = new CheckpointFile(path);
  expect(await file.read()).toBeNull();
  await file.write('one');
  await file.write('two');
  expect([await file.read(), statSync(path).mode & 0o777, readdirSync(folder)]).toEqual(['two', 0o600, ['checkpoint']]);
});

it('does not take a file that it cannot read for none, since the log could then contradict it', async () => {
  await expect(new CheckpointFile(folder).read()).rejects.toThrow('EISDIR');
});
