import { iss } from './testing/run-iss';
import { inhabit, RealLog } from './testing/real-log';

let log: RealLog;
beforeAll(async () => {
  log = await RealLog.create();
  await inhabit(log);
});
afterAll(() => log.close());

const audit = (...words: string[]) => iss(['audit', '--database-url', log.url, '--jobs', '1', ...words]);

it('finds nothing in what the worker made', async () => {
  const { exitCode, printed, complaint } = await audit('--vkey', log.vkey);
  expect([exitCode, complaint]).toEqual([0, '']);
  expect(printed).toMatch(
    /^Looked at 610 entries of a log of 610, 605 of them snapshots\. 2 checkpoints verified, 0 facts wait/,
  );
  expect(printed).toMatch(/Nothing is wrong\.$/);
  expect((await audit()).printed).toMatch(/Signatures were verified by the keys in the database/);
  expect(JSON.parse((await audit('--json')).printed)).toMatchObject({
    clean: true,
    tree_size: 610,
    findings: [],
    notices: [],
  });
});
