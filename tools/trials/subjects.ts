import { parseArgs } from 'node:util';
import { applyMigrations } from '../db/apply-migrations.ts';
import { TrialPostgres } from './frame/postgres.ts';
import { addSubjects, ASKED, median, type Round, StatementLoop } from './frame/statement-loop.ts';
import { runTrial } from './frame/trial.ts';

/**
 * `npm run trial -- subjects`: measures creates and reads in databases of 10,000, 1,000,000 and 10,000,000 subjects on one
 * server, in alternating rounds, so that other work on the machine affects all alike. `-- --subjects 1000000` sets the largest.
 */
const SIZES = [10_000, 1_000_000, 10_000_000];
const ROUNDS = 5;
const ROUND_MS = 2_000;
/**
 * The factor by which the processor time of a statement may grow for ten times as many subjects. Indexes are deeper, and pages
 * that exceed PostgreSQL's memory come from the cache of the system.
 */
const FLAT = 1.5;

const { values } = parseArgs({ options: { subjects: { type: 'string' } }, strict: false });
const largest = Number(values.subjects ?? SIZES.at(-1));

await runTrial('subjects', async (trial) => {
  const server = await TrialPostgres.create(trial, 'database', {
    shared_buffers: '1GB',
    max_wal_size: '16GB',
    autovacuum: 'off',
    wal_level: 'minimal',
    max_wal_senders: '0',
  });
  await server.start();
  const databases: { subjects: number; loop: StatementLoop }[] = [];
  for (const subjects of SIZES.filter((size) => size <= largest)) {
    const database = `subjects_${subjects}`;
    await server.query(`CREATE DATABASE ${database}`, [], 'postgres');
    await applyMigrations(server.url(database), undefined);
    const startedAt = performance.now();
    await addSubjects(server.url(database), subjects);
    const [size] = await server.query<{ gib: number }>(
      'SELECT pg_database_size(current_database())::float8 / 2 ^ 30 AS gib',
      [],
      database,
    );
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    trial.say(`${subjects} subjects: ${seconds} s, ${size?.gib.toFixed(2)} GiB`);
    const loop = await StatementLoop.open(server, database, subjects);
    trial.atEnd(() => loop.close());
    databases.push({ subjects, loop });
  }

  const rounds = new Map<string, Round[]>();
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const asked of ASKED) {
      for (const { subjects, loop } of databases) {
        const made = await loop.round(asked, ROUND_MS);
        // The first round fills caches.
        const key = `${asked} ${subjects}`;
        if (round > 0) rounds.set(key, [...(rounds.get(key) ?? []), made]);
      }
    }
  }
  const figure = (asked: string, subjects: number, of: keyof Round): number =>
    median((rounds.get(`${asked} ${subjects}`) ?? []).map((round) => round[of]));
  for (const asked of ASKED) {
    const [first] = databases.map(({ subjects }) => figure(asked, subjects, 'processorUs'));
    for (const [index, { subjects }] of databases.entries()) {
      const fewer = databases[index - 1]?.subjects ?? subjects;
      const processorUs = figure(asked, subjects, 'processorUs');
      const most = FLAT ** Math.log10(subjects / fewer);
      trial.judge(
        processorUs <= most * figure(asked, fewer, 'processorUs'),
        `${asked.padEnd(6)} beside ${String(subjects).padStart(8)} subjects: ${processorUs.toFixed(0)} µs of PostgreSQL's processors (× ${(processorUs / (first ?? 0)).toFixed(2)}), ${figure(asked, subjects, 'perSecond').toFixed(0)} /s`,
      );
    }
  }
});
