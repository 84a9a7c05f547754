import { Client, escapeLiteral } from 'pg';
import { STARTUP_OPTIONS } from '../database';
import { declaredStatements } from '../sql/sql';
import type { World } from './world';

interface PlanNode {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

type Value = string | number | null | readonly string[];

/**
 * How many rows of tables a declared statement reads with these values, kept or not. Through PREPARE on a connection
 * like the application's, since EXPLAIN of the bare text would plan for these very values, which the application never does.
 */
export async function rowsRead({ url }: World, name: string, values: readonly Value[]): Promise<number> {
  const client = new Client({ connectionString: url, options: STARTUP_OPTIONS });
  await client.connect();
  try {
    await client.query(`PREPARE explained AS ${declaredStatements().get(name) ?? ''}`);
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE explained(${values.map(literal).join(', ')})`,
    );
    return rows.reduce((sum, row) => sum + rowsOf(row['QUERY PLAN'][0].Plan), 0);
  } finally {
    await client.end();
  }
}

function literal(value: Value): string {
  if (value === null || typeof value === 'number') return String(value);
  return escapeLiteral(typeof value === 'string' ? value : `{${value.map((text) => JSON.stringify(text)).join(',')}}`);
}

function rowsOf(node: PlanNode): number {
  const isOfTable = /^(Seq|Index|Index Only|Bitmap Heap) Scan$/.test(node['Node Type']);
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const own = isOfTable ? (node['Actual Rows'] + removed) * node['Actual Loops'] : 0;
  return (node.Plans ?? []).reduce((sum, plan) => sum + rowsOf(plan), own);
}
