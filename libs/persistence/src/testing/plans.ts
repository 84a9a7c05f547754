import type { Client } from 'pg';
import { PLANNER } from '../database';
import { declaredStatements } from '../sql/statement';

/** The planner's settings of the applications. */
export const PLANNER_OPTIONS = PLANNER.map((setting) => `-c ${setting}`).join(' ');
export const ROLE_OPTION = '-c role=iss_app';

/** Returns true for statements that only the owner of the tables may run. */
export const isOwners = (name: string): boolean =>
  ['fill_hashes_', 'fill_provenance_', 'archive_restore', 'limit_override_', 'log_key_', 'log_restart_'].some(
    (owners) => name.startsWith(owners),
  );

const EXPLAINED = /^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)/i;

/** Returns the statements of the product. Suites declare others, whose names begin with `spec_` or `test_`. */
export function productStatements(): [name: string, text: string][] {
  return [...declaredStatements()].flatMap(([name, { text }]): [string, string][] =>
    /^(spec|test)_/.test(name) ? [] : [[name, text]],
  );
}

/** Returns every statement of the product that has a plan, with its text. */
export const explainable = (): [name: string, text: string][] =>
  productStatements().filter(([, text]) => EXPLAINED.test(text));

export interface PlanNode {
  Alias?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Plans?: PlanNode[];
}

const scansOf = (node: PlanNode): PlanNode[] => [
  ...(node['Index Name'] === undefined ? [] : [node]),
  ...(node.Plans ?? []).flatMap(scansOf),
];

/** Returns the index scans of a statement in the plan of this connection. */
export async function scansFor(connection: Client, text: string): Promise<PlanNode[]> {
  const { rows } = await connection.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`,
  );
  return rows.flatMap((row) => scansOf(row['QUERY PLAN'][0].Plan));
}
