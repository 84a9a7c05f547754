import { ends, figure } from '../measure.ts';
import type { Outcome } from '../run.ts';
import type { Server } from '../stage.ts';
import { rowsRead } from './rows-read.ts';
import { type Bench } from './scenario.ts';
import { seedSubjects, seedTenant, settle } from './seed.ts';

const READ_TABLES = ['memberships', 'subjects', 'snapshots', 'grants', 'subject_identifiers', 'subject_evidence'];
const count = (size: number): string => size.toLocaleString('en');

/** Measures the rows that a search by identifier reads as the number of subjects with an identifier grows. */
export async function identifierGrowth(
  bench: Bench,
  probe: Server,
): Promise<Required<Pick<Outcome, 'lines' | 'curves'>>> {
  const sizes = bench.effort.quick ? [1000, 10_000] : [1000, 10_000, 100_000];
  const tenantOf = (subjects: number): string => `known-${subjects}`;
  for (const subjects of sizes) {
    const tenantId = tenantOf(subjects);
    await seedTenant(bench, bench.owner, tenantId);
    await seedSubjects(bench, { prefix: `${tenantId}-`, upTo: subjects, tenantId });
    await bench.stage.sql.query(
      `INSERT INTO subject_identifiers (subject_key, scheme, value, owner_tenant_id, subject_type)
       SELECT subject_key, 'uid', 'CHE' || row_number() OVER (ORDER BY subject_key), owner_tenant_id, subject_type
         FROM subjects WHERE owner_tenant_id = $1`,
      [tenantId],
    );
  }
  await settle(bench);
  await bench.stage.sql.query('VACUUM ANALYZE subject_identifiers');
  const steps: { subjects: number; rows: number }[] = [];
  for (const subjects of sizes) {
    const path = `/v1/tenants/${tenantOf(subjects)}/subjects?identifier=uid:che-${subjects / 2}`;
    steps.push({ subjects, rows: await rowsRead(bench, probe, [{ path, headers: bench.owner }], READ_TABLES) });
  }
  const [small, large] = ends(steps);
  return {
    lines: [
      {
        id: 'growth-identifiers-rows',
        what: `Rows PostgreSQL reads for a search by an identifier among ${count(large.subjects)} subjects`,
        figure: figure([large.rows]),
        unit: 'rows',
        against: { what: `among ${count(small.subjects)}`, figure: figure([small.rows]) },
        target: { most: 1.1 },
      },
    ],
    curves: [
      {
        id: 'identifiers-rows',
        title: 'Rows read for a search by identifier, by number of subjects',
        x: { name: 'subjects of the tenant', scale: 'log' },
        y: 'rows PostgreSQL reads for a request',
        series: [{ name: 'identifier', points: steps.map(({ subjects, rows }) => ({ x: subjects, y: rows })) }],
      },
    ],
  };
}
