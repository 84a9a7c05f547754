import type { AuditReader } from '../database';
import { EXPECTED_GUARDS } from './expected-guards';
import { type Found, notice, nothingFound, report } from '../findings';

/**
 * Lists the schema objects that prevent rows from being changed or hidden, with their definitions. Spaces, brackets and the schema name are
 * removed, because versions of PostgreSQL write them differently.
 */
export const GUARDS_FOUND = `
WITH tables AS (
  SELECT c.oid, c.relname, c.relowner, c.relrowsecurity, c.relacl FROM pg_class c
   WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
), grantees (oid, name) AS (
  SELECT 0::oid, 'PUBLIC' UNION ALL SELECT oid, rolname FROM pg_roles WHERE rolname IN ('iss_app', 'iss_gateway', 'iss_worker')
), rights AS (
  SELECT t.oid AS table_oid, a.grantee, a.privilege_type AS what FROM tables t, aclexplode(t.relacl) a
  UNION ALL
  SELECT t.oid, a.grantee, a.privilege_type || ' (' || string_agg(c.attname::text, ', ' ORDER BY c.attname::text COLLATE "C") || ')'
    FROM tables t JOIN pg_attribute c ON c.attrelid = t.oid AND NOT c.attisdropped, aclexplode(c.attacl) a
   GROUP BY t.oid, a.grantee, a.privilege_type
), guards (name, definition) AS (
  SELECT 'migration ' || name, 'applied' FROM migrations
  UNION ALL
  SELECT 'trigger ' || g.tgname || ' of ' || t.relname,
         CASE WHEN g.tgenabled IN ('O', 'A') THEN '' ELSE 'disabled ' END
         || replace(translate(pg_get_triggerdef(g.oid), E'() \\n', ''), 'public.', '')
    FROM pg_trigger g JOIN tables t ON t.oid = g.tgrelid WHERE NOT g.tgisinternal
  UNION ALL
  SELECT 'function ' || p.proname || ' (' || pg_get_function_identity_arguments(p.oid) || ')',
         concat_ws(' ', l.lanname, CASE WHEN p.prosecdef THEN 'as its owner' END, array_to_string(p.proconfig, ' '),
           left(encode(sha256(convert_to(p.prosrc, 'UTF8')), 'hex'), 16),
           (SELECT 'for ' || string_agg(r.name, ', ' ORDER BY r.name)
              FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a JOIN grantees r ON r.oid = a.grantee))
    FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
   WHERE p.pronamespace = 'public'::regnamespace
     AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
  UNION ALL
  SELECT 'policy ' || p.polname || ' of ' || t.relname,
         concat_ws(' ', CASE WHEN p.polpermissive THEN 'permissive' ELSE 'restrictive' END, p.polcmd,
           (SELECT string_agg(coalesce(r.rolname, 'PUBLIC'), ',' ORDER BY r.rolname)
              FROM unnest(p.polroles) AS one (oid) LEFT JOIN pg_roles r ON r.oid = one.oid),
           'using ' || translate(pg_get_expr(p.polqual, p.polrelid), E'() \\n', ''),
           'check ' || translate(pg_get_expr(p.polwithcheck, p.polrelid), E'() \\n', ''))
    FROM pg_policy p JOIN tables t ON t.oid = p.polrelid
  UNION ALL
  SELECT 'row level security of ' || relname, 'on' FROM tables WHERE relrowsecurity
  UNION ALL
  SELECT 'constraint ' || c.conname || ' of ' || t.relname,
         replace(replace(translate(pg_get_constraintdef(c.oid), E'() \\n', ''), 'NOTVALID', ''), 'public.', '')
    FROM pg_constraint c JOIN tables t ON t.oid = c.conrelid WHERE c.contype IN ('c', 'p', 'u', 'f')
  UNION ALL
  SELECT 'unique index ' || i.relname || ' of ' || t.relname,
         CASE WHEN x.indisvalid THEN '' ELSE 'invalid ' END
         || replace(translate(pg_get_indexdef(i.oid), E'() \\n', ''), 'public.', '')
    FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN tables t ON t.oid = x.indrelid
   WHERE x.indisunique AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.oid AND c.contype IN ('p', 'u'))
  UNION ALL
  SELECT 'privileges of ' || r.name || ' on ' || t.relname,
         coalesce((SELECT string_agg(DISTINCT a.what, ', ') FROM rights a WHERE a.table_oid = t.oid AND a.grantee = r.oid), 'none')
    FROM tables t CROSS JOIN grantees r
  UNION ALL
  SELECT 'role ' || r.rolname,
         concat_ws(', ', 'exists', CASE WHEN r.rolsuper THEN 'superuser' END, CASE WHEN r.rolbypassrls THEN 'bypasses row level security' END,
           CASE WHEN r.rolcreaterole THEN 'makes roles' END,
           CASE WHEN EXISTS (SELECT FROM tables t WHERE pg_has_role(r.oid, t.relowner, 'MEMBER')) THEN 'owns tables' END)
    FROM grantees g JOIN pg_roles r ON r.oid = g.oid
  UNION ALL
  SELECT 'setting ' || lower(split_part(one.setting, '=', 1)) || ' of ' || coalesce(r.rolname, 'all'), one.setting
    FROM pg_db_role_setting s LEFT JOIN pg_roles r ON r.oid = s.setrole, unnest(s.setconfig) AS one (setting)
   WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
     AND lower(one.setting) LIKE 'session_replication_role=%' AND lower(one.setting) <> 'session_replication_role=origin'
)
SELECT name, definition FROM guards ORDER BY name COLLATE "C"`;

/** Kinds of guards that no migration created: `wrong` is a finding, and another value a notice. Other kinds are ignored. */
const BEYOND: readonly { kind: string; is: 'wrong' | 'notable' }[] = [
  { kind: 'policy ', is: 'wrong' },
  { kind: 'setting ', is: 'wrong' },
  { kind: 'trigger ', is: 'notable' },
];

const MIGRATION = 'migration ';
const PRIVILEGES = /^privileges of (.+) on (\w+)$/;

/**
 * The expected guards by name, in its order. The file names roles with equal privileges on a table together, and leaves out that all roles have
 * none.
 */
export const GUARDS: ReadonlyMap<string, string> = new Map(
  EXPECTED_GUARDS.trim()
    .split('\n')
    .flatMap((line): [string, string][] => {
      const end = line.indexOf(': ');
      const [name, definition] = [line.slice(0, end), line.slice(end + 2)];
      const [, roles, table] = PRIVILEGES.exec(name) ?? [];
      if (roles === undefined) return [[name, definition]];
      const named = roles
        .split(', ')
        .map((role): [string, string] => [`privileges of ${role} on ${table}`, definition]);
      return [[`privileges of PUBLIC on ${table}`, 'none'], ...named];
    })
    .sort(([one], [other]) => (one < other ? -1 : 1)),
);

/** Checks that the guards of the schema match the migrations of this release. */
export async function checkGuards(reader: AuditReader): Promise<Found> {
  const found = nothingFound();
  const there = new Map<string, string>();
  await reader.each(GUARDS_FOUND, [], ([name, definition]) => there.set(name ?? '', definition ?? ''));
  const expected = [...GUARDS];
  const missing = expected.filter(([name]) => name.startsWith(MIGRATION) && !there.has(name));
  const unknown = [...there.keys()].filter((name) => name.startsWith(MIGRATION) && !GUARDS.has(name));
  if (missing.length > 0 || unknown.length > 0) {
    const what =
      missing.length > 0
        ? `${missing.map(([name]) => name.slice(MIGRATION.length)).join(', ')} not applied (npm run db:migrate)`
        : `${unknown.map((name) => name.slice(MIGRATION.length)).join(', ')} of another release: use its iss`;
    report(found, 'guard', 'migrations', `${what}; the rest of the schema was not compared`);
    return found;
  }
  for (const [name, definition] of expected) {
    const actual = there.get(name);
    if (actual === undefined) report(found, 'guard', name, 'it is missing');
    else if (actual !== definition) report(found, 'guard', name, difference(name, actual, definition));
  }
  for (const [name, definition] of there) {
    const beyond = BEYOND.find(({ kind }) => name.startsWith(kind));
    if (GUARDS.has(name) || beyond === undefined) continue;
    if (beyond.is === 'wrong') report(found, 'guard', name, `no migration created it: ${definition}`);
    else notice(found, name, 'no migration created it');
  }
  return found;
}

function difference(name: string, actual: string, definition: string): string {
  if (actual.startsWith('disabled ')) return 'it is disabled';
  // Other definitions are digests or texts without spaces, which are not readable.
  if (name.startsWith('privileges ') || name.startsWith('role ')) return `it is: ${actual}; expected: ${definition}`;
  return 'it differs from the migrations';
}
