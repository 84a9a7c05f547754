import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestDatabase } from '../../../tools/testing/test-database';
import { AuditReader } from '../src/audit/database';
import { GUARDS, GUARDS_FOUND } from '../src/audit/schema/guards';

const FILE = join(__dirname, '../src/audit/schema/expected-guards.ts');

it('expected-guards.ts lists the guards that the migrations create (npm run generate -- sql)', async () => {
  const { url, drop } = await createTestDatabase({ migrated: 'service' });
  try {
    const reader = await AuditReader.open(url, null);
    const found = (await reader.rows(GUARDS_FOUND)).map(([name, definition]) => `${name}: ${definition}`);
    await reader.close();
    expect(found.filter((line) => /[`\\\n]|\$\{/.test(line))).toEqual([]);
    const lines = joined(found.filter((line) => !/^privileges of PUBLIC on \w+: none$/.test(line)));
    const file = `// Written by npm run generate -- sql, from a database that has all migrations.
/** The expected guards, one per line: the name and the definition, as the audit reads it from the catalogue. */
export const EXPECTED_GUARDS = \`
${lines.join('\n')}
\`;
`;
    if (process.env['UPDATE_STATEMENTS'] === 'true') writeFileSync(FILE, file);
    expect(readFileSync(FILE, 'utf8')).toBe(file);
    if (process.env['UPDATE_STATEMENTS'] === 'true') return;
    expect([...GUARDS].map(([name, definition]) => `${name}: ${definition}`)).toEqual(found);
  } finally {
    await drop();
  }
});

/** Joins the lines of roles with equal privileges on a table. */
function joined(lines: readonly string[]): string[] {
  const roles = new Map<string, string[]>();
  for (const line of lines) {
    const [, role, rest] = /^privileges of (\w+) (on .*)$/.exec(line) ?? [];
    const key = rest === undefined ? line : `privileges of {} ${rest}`;
    roles.set(key, [...(roles.get(key) ?? []), ...(role === undefined ? [] : [role])]);
  }
  return [...roles].map(([line, names]) => (names.length === 0 ? line : line.replace('{}', names.join(', '))));
}
