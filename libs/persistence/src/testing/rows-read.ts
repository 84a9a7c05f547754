import { Client, escapeLiteral } from 'pg';
import { STARTUP_OPTIONS } from '../database';
import { argumentOf, declaredStatements } from '../sql/statement';
import type { World } from './world';

interface PlanNode {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

/**
 * Returns the number of table rows that a declared statement reads with these parameters, including rows that a filter removes.
 * It uses PREPARE on a connection like the application's, because EXPLAIN of the text would plan for these values.
 */
export async function rowsRead({ url }: World, name: string, given: object): Promise<number> {
  const query = declaredStatements().get(name);
  if (query === undefined) throw new Error(`No statement is named ${name}`);
  const literals = query.parameters.map((parameter) => literal(argumentOf(parameter, given, query)));
  const client = new Client({ connectionString: url, options: STARTUP_OPTIONS });
  await client.connect();
  try {
    await client.query(`PREPARE explained AS ${query.text}`);
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE explained(${literals.join(', ')})`,
    );
    return rows.reduce((sum, row) => sum + rowsOf(row['QUERY PLAN'][0].Plan), 0);
  } finally {
    await client.end();
  }
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  return escapeLiteral(Array.isArray(value) ? `{${value.map(element).join(',')}}` : String(value));
}

function element(value: unknown): string {
  return value === null || value === undefined ? 'NULL' : JSON.stringify(String(value));
}

function rowsOf(node: PlanNode): number {
  const isOfTable = /^(Seq|Index|Index Only|Bitmap Heap) Scan$/.test(node['Node Type']);
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const own = isOfTable ? (node['Actual Rows'] + removed) * node['Actual Loops'] : 0;
  return (node.Plans ?? []).reduce((sum, plan) => sum + rowsOf(plan), own);
}
