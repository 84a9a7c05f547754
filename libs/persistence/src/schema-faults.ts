import { APP_ROLES, APPLICATION_ROLE, type DatabaseRole } from '@iss/platform';
import { MIGRATIONS, migrationText } from './migrations';
import type { Sql, TransactionSql } from './sql/sql';
import { type NoParameters, statement } from './sql/statement';

/** A trigger or a policy of a table. */
interface Guard {
  name: string;
  table: string;
}

/** What the schema must have beside its tables for the promises to hold. */
interface Expected {
  triggers: readonly Guard[];
  policies: readonly Guard[];
  /** Tables with row level security. */
  secured: readonly string[];
  /** Privileges of the role: `privilege`, `table`, and `column`, null for all of them. */
  privileges: readonly { privilege: string; table: string; column: string | null }[];
}

const ROLES: readonly DatabaseRole[] = [APPLICATION_ROLE, ...Object.values(APP_ROLES)];

const ACTS_AS = statement<NoParameters, { actsAs: string }>('acts_as', 'SELECT current_user::text AS "actsAs"');

interface Found {
  missingTriggers: string[];
  missingPolicies: string[];
  unsecured: string[];
  missingPrivileges: string[];
}

const FAULTS = statement<Expected, Found>(
  'schema_faults',
  `SELECT
  ARRAY(SELECT e.name FROM unnest(:triggers.name::text[], :triggers.table::text[]) AS e(name, "table")
         WHERE (SELECT t.tgenabled IN ('O', 'A') FROM pg_trigger t
                 WHERE t.tgrelid = to_regclass(e."table") AND t.tgname = e.name LIMIT 1) IS NOT TRUE) AS "missingTriggers",
  ARRAY(SELECT e.name FROM unnest(:policies.name::text[], :policies.table::text[]) AS e(name, "table")
         WHERE (SELECT true FROM pg_policy p
                 WHERE p.polrelid = to_regclass(e."table") AND p.polname = e.name LIMIT 1) IS NULL) AS "missingPolicies",
  ARRAY(SELECT name FROM unnest(:secured::text[]) name
         WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = to_regclass(name) AND c.relrowsecurity)) AS unsecured,
  ARRAY(SELECT DISTINCT p.privilege || ' ' || p."table"
          FROM unnest(:privileges.privilege::text[], :privileges.table::text[], :privileges.column::text[])
               AS p(privilege, "table", "column")
         WHERE to_regclass(p."table") IS NULL OR NOT CASE
               WHEN p."column" IS NULL THEN has_table_privilege(to_regclass(p."table"), p.privilege)
               ELSE has_column_privilege(to_regclass(p."table"), p."column", p.privilege) END) AS "missingPrivileges"`,
);

/** Read from the migrations themselves, so that nothing has to be kept in step. */
function expectations(role: DatabaseRole): Expected {
  const guards = { TRIGGER: new Map<string, Guard>(), POLICY: new Map<string, Guard>() };
  const secured = new Set<string>();
  for (const { file } of MIGRATIONS) {
    const text = migrationText(file);
    // As they stand in the text: a step may drop what an earlier one made, and make it anew.
    for (const [, verb, kind, name = '', table = ''] of text.matchAll(
      /^\s*(CREATE|DROP) (TRIGGER|POLICY) (?:IF EXISTS )?(\w+)[^;]*?\bON (\w+)/gm,
    )) {
      const known = guards[kind === 'TRIGGER' ? 'TRIGGER' : 'POLICY'];
      if (verb === 'CREATE') known.set(`${table}.${name}`, { name, table });
      else known.delete(`${table}.${name}`);
    }
    for (const [, table = ''] of text.matchAll(/^ALTER TABLE (\w+) ENABLE ROW LEVEL SECURITY/gm)) secured.add(table);
  }
  return {
    triggers: [...guards.TRIGGER.values()],
    policies: [...guards.POLICY.values()],
    secured: [...secured],
    privileges: granted(role),
  };
}

/** Returns the privileges on tables that `privileges.sql` grants a role. */
function granted(role: DatabaseRole): Expected['privileges'] {
  const grants = [...migrationText('privileges').matchAll(/^GRANT ([^;]*?) ON ([\w\s,]+?) TO ([\w\s,]+);/gm)];
  return grants
    .filter(([, , , grantees = '']) => grantees.split(',').some((name) => name.trim() === role))
    .flatMap(([, what = '', where = '']) =>
      where
        .split(',')
        .map((table) => table.trim())
        .filter((table) => /^\w+$/.test(table))
        .map((table) => ({ table, privileges: what.split(/,(?![^(]*\))/) })),
    )
    .flatMap(({ table, privileges }) =>
      privileges.flatMap((text) => {
        const [, privilege = '', columns] = /^\s*(\w+)\s*(?:\(([^)]*)\))?/.exec(text) ?? [];
        return (columns?.split(',') ?? [null]).map((column) => ({ privilege, table, column: column?.trim() ?? null }));
      }),
    );
}

const expected = new Map<DatabaseRole, Expected>();

const isKnownRole = (name: string): name is DatabaseRole => ROLES.some((role) => role === name);

/**
 * What of the schema does not stand as the migrations leave it, a sentence each; none where all is well. A dump that was
 * restored without the application's role has lost its privileges and policies; a pooler that drops startup options has
 * the process act as its login.
 */
export async function schemaFaults(sql: Sql | TransactionSql): Promise<string[]> {
  const { actsAs } = await sql.one(ACTS_AS, {});
  const role = isKnownRole(actsAs) ? actsAs : APPLICATION_ROLE;
  const wanted = expected.get(role) ?? expectations(role);
  expected.set(role, wanted);
  const found = await sql.one(FAULTS, wanted);
  return [
    ...roleFaults(actsAs, role),
    ...found.missingPrivileges.map((name) => `${role} lacks the privilege ${name}: run npm run db:migrate`),
    ...found.missingPolicies.map((name) => `the policy ${name} is missing: run npm run db:migrate`),
    ...found.unsecured.map((name) => `row level security of ${name} is off: run npm run db:migrate`),
    ...found.missingTriggers.map(
      (name) =>
        `the trigger ${name} is missing or disabled: restore it from libs/persistence/migrations, then run iss audit`,
    ),
  ];
}

/**
 * Throws unless what a transaction did not find is gone from its table. Rows that a policy hides are not: a process that took
 * them for gone would pass over facts for ever. No policy changes before the end of a transaction that has read its table.
 */
export async function requireNothingHidden(sql: TransactionSql): Promise<void> {
  const faults = await schemaFaults(sql);
  if (faults.length > 0) throw new Error(`facts are not found, and may be hidden: ${faults.join('; ')}`);
}

export const DROPPED_OPTIONS =
  'a pooler in between dropped the startup options (docs/operations/high-availability.md, "Poolers"), or the login sets others';

/** What is wrong with whom a connection acts as. */
export function roleFaults(actsAs: string, role: DatabaseRole = APPLICATION_ROLE): string[] {
  if (actsAs === role) return [];
  return [`the connection acts as ${actsAs} and not as ${role}: ${DROPPED_OPTIONS}`];
}
