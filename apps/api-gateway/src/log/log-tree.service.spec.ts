import { waitFor } from '../../../../tools/testing/wait-for';
import type { LogCheckpoint } from '@iss/persistence';
import { LogTreeService } from './log-tree.service';

const TILE = { level: 0, index: 0, width: 2 };

it('LogTreeService keeps a published tile, and reads it again if the log’s origin changes', async () => {
  let checkpoint: LogCheckpoint = { origin: 'log.example/one', size: 2, note: '', signedAt: new Date() };
  let hash = 1;
  const asked: number[] = [];
  const tree = new LogTreeService(
    { newest: async () => checkpoint, ofSize: async () => null, keys: async () => [], policy: async () => null },
    {
      read: async (tiles) => {
        asked.push(tiles.length);
        return tiles.map(() => Buffer.alloc(64, hash));
      },
      find: async () => null,
    },
    { run: () => Promise.reject(new Error('asked for work')) },
  );
  const first = async (): Promise<number | undefined> => (await tree.tile(TILE))?.bytes[0];
  expect([await first(), await first()]).toEqual([1, 1]);
  // The table was changed, but the published tile stays the same.
  hash = 2;
  expect(await first()).toBe(1);
  checkpoint = { ...checkpoint, origin: 'log.example/two' };
  await waitFor(async () => (await first()) === 2, { what: 'the tile of the other log' });
  expect(await first()).toBe(2);
  expect(asked.filter((count) => count > 0)).toEqual([1, 1]);
});
