import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CheckpointFile } from './checkpoint-file';

const folder = mkdtempSync(join(tmpdir(), 'iss-checkpoint-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('CheckpointFile returns the newest note, null before the first, and has mode 0600', async () => {
  const path = join(folder, 'checkpoint');
  const file = new CheckpointFile(path);
  expect(await file.read()).toBeNull();
  await file.write('one');
  await file.write('two');
  expect([await file.read(), statSync(path).mode & 0o777, readdirSync(folder)]).toEqual(['two', 0o600, ['checkpoint']]);
});

it('CheckpointFile throws if it cannot read the file, so that the log cannot contradict it', async () => {
  await expect(new CheckpointFile(folder).read()).rejects.toThrow('EISDIR');
});
