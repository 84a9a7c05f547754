import type { Head } from '../flows.ts';
import { alternate, figure } from '../measure.ts';
import { openEmmett, openRawInserts, perSecond } from '../peers.ts';
import { type Line, Missing, type Outcome } from '../run.ts';
import { type Bench, CONNECTIONS, costOf, OWNER, rateOf, sample } from './scenario.ts';
import { seedSubjects } from './seed.ts';

const PREFIX = 'pair-';

/** Returns the heads of the chains that clients of `propose_and_apply` extend. */
async function headsOf({ stage }: Bench): Promise<Head[]> {
  const { rows } = await stage.sql.query<{ subject_id: string; version: number }>(
    `SELECT s.subject_id, max(n.snapshot_version) AS version FROM subjects s JOIN snapshots n USING (subject_key)
      WHERE s.subject_id LIKE '${PREFIX}%' GROUP BY 1`,
  );
  return rows.map((row) => ({ subjectId: row.subject_id, version: row.version }));
}

/** Compares writes with the framework's no-op POST of the same body, with Emmett, and with bare statements. */
export async function writes(bench: Bench): Promise<Outcome> {
  const { noOp, gateway, stage, effort, owner } = bench;
  const emmett = await openEmmett(stage.databaseUrl).catch((error: unknown) => {
    if (error instanceof Missing) return error;
    throw error;
  });
  const raw = openRawInserts(stage.databaseUrl);
  await seedSubjects(bench, { prefix: PREFIX, upTo: CONNECTIONS });
  const post = { kind: 'post', path: '/no-op', headers: {}, expect: 201 } as const;
  const samples = await alternate(effort, {
    noOp: () => sample(bench, noOp, post),
    noOpPair: () => sample(bench, noOp, { ...post, times: 2 }),
    create: () => sample(bench, gateway, { kind: 'create', tenantId: OWNER, headers: owner }),
    batch: () => sample(bench, gateway, { kind: 'batch', tenantId: OWNER, headers: owner }, { connections: 1 }),
    pair: async () =>
      sample(bench, gateway, {
        kind: 'propose_and_apply',
        tenantId: OWNER,
        headers: owner,
        subjects: await headsOf(bench),
      }),
    emmett: async () => (emmett instanceof Missing ? NaN : perSecond(effort.measureMs, emmett.append)),
    raw: () => perSecond(effort.measureMs, raw.insert),
  }).finally(async () => {
    if (!(emmett instanceof Missing)) await emmett.close();
    await raw.close();
  });
  const create = { figure: rateOf(samples.create), unit: '/s' } as const;
  const againstEmmett: Line = {
    id: 'create-emmett',
    what: 'Create, against Emmett in process',
    ...create,
    against: { what: 'Emmett append', figure: figure(samples.emmett) },
    target: { least: 2 },
  };
  return {
    skipped: emmett instanceof Missing ? [emmett.message] : [],
    lines: [
      {
        id: 'create',
        what: `Create (version 1), ${CONNECTIONS} connections`,
        ...create,
        against: { what: 'no-op POST', figure: rateOf(samples.noOp) },
        target: { least: 0.75 },
      },
      ...(emmett instanceof Missing ? [] : [againstEmmett]),
      {
        id: 'create-raw',
        what: 'Create, against bare statements',
        ...create,
        against: { what: 'pg, a row a statement', figure: figure(samples.raw) },
      },
      {
        id: 'batch',
        what: 'Batch of creates, one client',
        figure: rateOf(samples.batch),
        unit: '/s',
        against: { what: `creates, ${CONNECTIONS} connections`, figure: create.figure },
        target: { least: 1.2 },
      },
      {
        id: 'pair',
        what: 'Propose + apply, in pairs',
        figure: rateOf(samples.pair),
        unit: '/s',
        against: { what: 'no-op POST, in pairs', figure: rateOf(samples.noOpPair) },
        target: { least: 0.33 },
      },
    ],
    costs: [
      costOf('no-op-post', 'No-op POST', samples.noOp),
      costOf('create', 'Create', samples.create),
      costOf('batch', 'Create, a line of a batch', samples.batch),
      costOf('pair', 'Propose + apply, a pair', samples.pair),
    ],
  };
}
