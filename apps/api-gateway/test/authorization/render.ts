import { CALLERS, MEANING } from './callers';
import { expectedStatus, TABLE } from './table';

const INTRODUCTION = `# Who may do what

Every route and every kind of caller, with the status that it gets. The table is data
(\`apps/api-gateway/test/authorization/table.ts\`); a test sends each of these requests to the running gateway, and fails
when a route is missing. A number in bold is a success.

Under a path with \`{tenant_id}\`, members of the owner name the owner's tenant; a grantee names its own where a subject
is read or written, and the owner's elsewhere. Global reads (no \`{tenant_id}\`) answer 404 to whoever has no right.
`;

/** The table as Markdown. */
export function render(): string {
  const cells = (values: readonly string[]): string => `| ${values.join(' | ')} |`;
  const rows = TABLE.map((row) =>
    cells([
      `\`${row.method.toUpperCase()} ${row.path}\`${row.when === undefined ? '' : `, ${row.when}`}`,
      ...CALLERS.map((caller) => {
        const status = expectedStatus(row, caller);
        return status < 300 ? `**${status}**` : String(status);
      }),
    ]),
  );
  return [
    INTRODUCTION,
    '## Callers',
    '',
    ...CALLERS.map((caller) => `- **${caller}** ${MEANING[caller]}`),
    '',
    '## Routes',
    '',
    cells(['Route', ...CALLERS]),
    cells(['---', ...CALLERS.map(() => '---')]),
    ...rows,
    '',
  ].join('\n');
}
