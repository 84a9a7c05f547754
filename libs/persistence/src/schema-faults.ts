import { APP_ROLES, APPLICATION_ROLE, type DatabaseRole } from '@iss/platform';
import { MIGRATIONS, migrationText } from './migrations';
import type { Sql, TransactionSql } from './sql/sql';
import { type NoParameters, statement } from './sql/statement';

/** A trigger or a policy of a table. */
interface Guard {
  name: string;
  table: string;
}

/** The guards and privileges that the schema needs, apart from its tables. */
interface Expected {
  triggers: readonly Guard[];
  policies: readonly Guard[];
  /** Tables with row level security. */
  secured: readonly string[];
  /** The privileges of the role. `column` is null if the privilege covers all columns. */
  privileges: readonly { privilege: string; table: string; column: string | null }[];
}

const ROLES: readonly DatabaseRole[] = [APPLICATION_ROLE, ...Object.values(APP_ROLES)];

const ACTS_AS = statement<NoParameters, { actsAs: string }>('acts_as');

interface Found {
  missingTriggers: string[];
  missingPolicies: string[];
  unsecured: string[];
  missingPrivileges: string[];
}

const FAULTS = statement<Expected, Found>('schema_faults');

/** Reads the expectations from the migrations, so that there is no second list. */
function expectations(role: DatabaseRole): Expected {
  const guards = { TRIGGER: new Map<string, Guard>(), POLICY: new Map<string, Guard>() };
  const secured = new Set<string>();
  for (const { file } of MIGRATIONS) {
    const text = migrationText(file);
    // In the order of the text, because a step may drop a guard and create it again.
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
 * Returns a sentence for each difference between the schema and the migrations. For example, a dump that was restored without the
 * application's role lacks privileges and policies. Behind a pooler that drops startup options, the process acts as its login.
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
 * Throws if the schema has faults. A transaction that misses rows calls it to rule out that a policy hides them: it would
 * otherwise treat them as deleted and skip facts for ever. No policy can change while a transaction that has read its table is
 * open.
 */
export async function requireNothingHidden(sql: TransactionSql): Promise<void> {
  const faults = await schemaFaults(sql);
  if (faults.length > 0) throw new Error(`facts are missing, and may be hidden: ${faults.join('; ')}`);
}

export const DROPPED_OPTIONS =
  'a pooler dropped the startup options (docs/operations/high-availability.md, "Poolers"), or the login has other settings';

/** Returns a sentence if a connection acts as another role. */
export function roleFaults(actsAs: string, role: DatabaseRole = APPLICATION_ROLE): string[] {
  if (actsAs === role) return [];
  return [`the connection acts as ${actsAs} and not as ${role}: ${DROPPED_OPTIONS}`];
}
