import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { repositoryRoot } from '../root.ts';

const folder = join(repositoryRoot, 'deploy/observability');
const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string; needs?: string };
  annotations: { summary: string; runbook: string };
}
const { groups }: { groups: { rules: Rule[] }[] } = parse(read('deploy/observability/alerts.yaml'));
const rules = groups.flatMap((group) => group.rules);
interface Dashboard {
  uid: string;
  panels: { id: number; title: string; targets: { expr: string }[] }[];
}
const dashboards = globSync('*.dashboard.json', { cwd: folder }).map((file): Dashboard =>
  JSON.parse(readFileSync(join(folder, file), 'utf8')),
);
const operations = ['observability', 'runbooks'].map((page) => read(`docs/operations/${page}.md`)).join('\n');

/** Matches metrics: every metric has one of these prefixes, and nothing else in an expression has one. */
const FIGURE =
  /\b(?:build_info|service_ready|(?:archive|dependency|damaged|deadline|database|http|work|webhook|log|feed|nodejs|process)_[a-z][a-z0-9_]*)\b/g;
const bare = (name: string): string => name.replace(/_(bucket|count|sum)$/, '');
const figuresOf = (expr: string): string[] => (expr.replace(/\{[^}]*\}/g, '').match(FIGURE) ?? []).map(bare);

const documented = new Set([...operations.matchAll(/^- `([a-z_]+)`:/gm)].map(([, name = '']) => name));
const sources = globSync('{apps,libs}/*/src/**/*.ts', { cwd: repositoryRoot })
  .filter((file) => !file.endsWith('spec.ts'))
  .map(read)
  .join('\n');

it.each(rules)(
  'the alert $alert has a severity, a summary and an existing section of a runbook',
  ({ labels, annotations }) => {
    expect(['page', 'ticket']).toContain(labels.severity);
    expect(annotations.summary).not.toBe('');
    const [page = '', anchor = ''] = annotations.runbook.split('#');
    const headings = [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .replace(/\s/g, '-'),
    );
    expect(headings).toContain(anchor);
  },
);

it.each(rules.map(({ alert }) => alert))('the documents of operations name the alert %s', (alert) => {
  expect(operations).toContain(`\`${alert}\``);
});

const asked = [
  ...rules.map(({ expr }) => expr),
  ...dashboards.flatMap(({ panels }) => panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))),
];

it.each([...new Set(asked.flatMap(figuresOf))].filter((name) => !/^(nodejs|process)_/.test(name)))(
  'the metric %s, which a rule or dashboard queries, exists and is documented',
  (name) => {
    expect(documented).toContain(name);
    expect(sources).toContain(`'${name}'`);
  },
);

it('every expression of rules and dashboards queries a known metric', () => {
  expect(asked.filter((expr) => figuresOf(expr).length === 0)).toEqual([]);
  expect(asked.length).toBeGreaterThan(40);
});

it('dashboards and their panels have unique ids', () => {
  expect(new Set(dashboards.map(({ uid }) => uid)).size).toBe(2);
  for (const { panels } of dashboards) expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
});

it('alerts fire only in their failure cases (promtool)', () => {
  const { error, status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'alerts.test.yaml'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (error !== undefined) {
    console.log('promtool is not installed (Debian: prometheus): the alert rules were not fired');
    return;
  }
  expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('SUCCESS')]);
});

it('the alerts of the error budget count every error code with a 5xx status', () => {
  const statuses = read('libs/contract/src/describe/errors.ts').matchAll(/^ {2}(\w+): 5\d\d,$/gm);
  const codes = [...statuses].map(([, code]) => code).join('|');
  const budgets = rules.filter(({ alert }) => alert.startsWith('IssErrorBudget'));
  for (const { expr } of budgets) expect(expr.split(`http_errors_total{code=~"${codes}"}`)).toHaveLength(3);
});

it('alertmanager.yaml mutes exactly the alerts that need an unavailable dependency', () => {
  const { inhibit_rules: inhibited }: { inhibit_rules: { source_matchers: string[]; target_matchers: string[] }[] } =
    parse(read('deploy/observability/alertmanager.yaml'));
  const matches = (matcher: string, labels: Record<string, string | undefined>): boolean => {
    const [, name = '', operator, value = ''] = /^(\w+) (=~?) "?([^"]*)"?$/.exec(matcher) ?? [];
    return operator === '=~' ? new RegExp(`^(?:${value})$`).test(labels[name] ?? '') : labels[name] === value;
  };
  const mutedBy = (of: string): string[] =>
    rules
      .filter(({ alert, labels }) =>
        inhibited.some(
          (rule) =>
            rule.source_matchers.every((one) => matches(one, { alertname: 'IssDependencyAway', of })) &&
            rule.target_matchers.every((one) => matches(one, { alertname: alert, ...labels })),
        ),
      )
      .map(({ alert }) => alert);
  const needing = (...needs: string[]): string[] =>
    rules.filter(({ labels }) => needs.includes(labels.needs ?? '')).map(({ alert }) => alert);
  expect(mutedBy('database')).toEqual(needing('database', 'database-and-issuer'));
  expect(mutedBy('issuer')).toEqual(needing('database-and-issuer'));
  expect(mutedBy('issuer')).toContain('IssNoGateway');
  expect(
    rules.flatMap(({ labels }) => labels.needs ?? []).filter((one) => !/^database(-and-issuer)?$/.test(one)),
  ).toEqual([]);
});

it('alerts.test.yaml has a firing and a silent case for every alert', () => {
  const cases = read('deploy/observability/alerts.test.yaml');
  for (const { alert } of rules) {
    expect(cases).toContain(`alertname: ${alert},`);
    expect(cases).toContain(`alertname="${alert}"`);
  }
});
