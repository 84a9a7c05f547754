import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ERROR_CODES, parseJsonText, policyProblems, validateEnvelope } from '@iss/domain';
import { parseAllDocuments } from 'yaml';
import { repositoryRoot } from '../root.ts';

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');
const variablesOf = (text: string): string[] =>
  [...text.matchAll(/^\s*([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name ?? '');
/** Returns the anchors that GitHub generates for headings. */
const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/\s/g, '-'),
  );
const known = variablesOf(read('.env.example'));

it('every npm command in the documents exists', () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'));
  const FOLDERS: Readonly<Record<string, string>> = { tool: 'tools', trial: 'tools/trials' };
  const documents = ['*.md', 'docs/**/*.md', '{apps,libs}/*/README.md'].flatMap((pattern) =>
    globSync(pattern, { cwd: repositoryRoot }),
  );
  const commands = documents.flatMap((path) => [
    ...read(path).matchAll(/npm run (?:-s )?([a-z][a-z:]*)(?: -- ([a-z][a-z/-]+))?/g),
  ]);
  const missing = commands.filter(([, script = '', name]) => {
    const folder = FOLDERS[script];
    const file = folder === undefined || name === undefined ? null : join(repositoryRoot, folder, `${name}.ts`);
    return !(script in scripts) || (file !== null && !existsSync(file));
  });
  expect([commands.length > 50, missing.map(([text]) => text)]).toEqual([true, []]);
});

it('docs/errors.md has a section for every error code', () => {
  const sections = [...read('docs/errors.md').matchAll(/^## (\w+)$/gm)].map(([, code]) => code);
  expect(sections.sort()).toEqual([...ERROR_CODES].sort());
});

it('docs/operations/configuration.md names every variable that a process reads', () => {
  const operations = read('docs/operations/configuration.md');
  const development = ['DATA_DIR', 'IDP_PORT', 'INBOX_PORT', 'SEED', 'WITNESS_PORT', 'WORKER_METRICS_PORT'];
  const missing = known.filter((name) => !development.includes(name) && !operations.includes(`\`${name}\``));
  expect(missing).toEqual([]);
});

it('docs/operations/asvs.md lists each requirement of levels 1 and 2 once, with a test or a reason', () => {
  const rows = [...read('docs/operations/asvs.md').matchAll(/^- (\d[\d., –]*?): (.*)$/gm)];
  const ids = rows.flatMap(([, list = '']) => idsOf(list)).sort();
  // The ids in OWASP's own list (version 5.0.0), sorted as text.
  expect([ids.length, createHash('sha256').update(ids.join('\n')).digest('hex')]).toEqual([
    253,
    'f387fdbcc3a2d7d3a1dd4388a89f6fb57fa477ccba194db207529bca7e26fae4',
  ]);
  const tested = rows.filter(([, , text = '']) => text.includes('spec.ts'));
  expect(tested.flatMap(([, list = '']) => idsOf(list)).length).toBeGreaterThan(120);
  for (const [, , text = ''] of tested) expect(text).toMatch(/^(\[`[\w.-]+`\]\(\.\.\/\.\.\/[\w/.-]+spec\.ts\)(, )?)+$/);
  expect(rows.filter(([, , text = '']) => !text.includes('spec.ts') && text.length < 20)).toEqual([]);
});

/** Returns the ids of a list, in which `1.2.6–1.2.8` means three of them. */
function idsOf(list: string): string[] {
  return list.split(', ').flatMap((item) => {
    const [first = '', last = first] = item.split('–');
    const [from, to] = [first, last].map((id) => Number(id.split('.').at(-1)));
    const chapter = first.split('.').slice(0, -1).join('.');
    return Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => `${chapter}.${Number(from) + index}`);
  });
}

it('the record of docs/how-to/model.md is a valid envelope, and its evidence resolves', () => {
  const [, text = ''] = /```json\n([\s\S]*?)```/.exec(read('docs/how-to/model.md')) ?? [];
  const envelope = parseJsonText(text);
  validateEnvelope(envelope);
  expect(policyProblems('resolved', null, envelope)).toEqual([]);
});

it.each(
  globSync('{README,CHANGELOG,CONTRIBUTING,SECURITY,docs/**/*,apps/*/README,libs/*/README}.md', {
    cwd: repositoryRoot,
  }),
)('the links of %s have existing targets', (page) => {
  const targets = [...read(page).matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, target]) => target ?? '');
  const broken = targets.filter((target) => {
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? page : join(dirname(page), path);
    if (!existsSync(join(repositoryRoot, file))) return true;
    return anchor !== undefined && file.endsWith('.md') && !anchorsOf(read(file)).includes(anchor);
  });
  expect(broken).toEqual([]);
});

describe('docs/decisions/README.md', () => {
  const records = globSync('docs/decisions/[0-9]*.md', { cwd: repositoryRoot }).sort();
  const index = read('docs/decisions/README.md');
  const rows = [...index.matchAll(/^- \[(\d{4}: [^\]]+)\]\(([^)]+)\)$/gm)];

  it('lists every record once by title, in the order of their numbers', () => {
    const titles = records.map((file) => [/^# (.+)$/m.exec(read(file))?.[1], basename(file)]);
    expect(rows.map(([, title, file]) => [title, file])).toEqual(titles);
  });

  it('has unique numbers, equal in file name and title', () => {
    const numbers = records.map((file) => basename(file).slice(0, 4));
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(rows.map(([, title]) => title?.slice(0, 4))).toEqual(numbers);
  });

  it('states for each given package whether it is used', () => {
    const manifest: Record<'dependencies' | 'devDependencies', Record<string, string>> = JSON.parse(
      read('package.json'),
    );
    const installed = new Set([...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)]);
    const given = [...index.matchAll(/^- `([^`]+)`: (Used|Not used)/gm)].map(([, name, use]) => [name, use]);
    expect(given).toHaveLength(16);
    expect(given).toEqual(given.map(([name = '']) => [name, installed.has(name) ? 'Used' : 'Not used']));
  });
});

describe('docker/compose.yaml', () => {
  const file = 'docker/compose.yaml';

  it('is YAML', () => {
    for (const document of parseAllDocuments(read(file), { merge: true })) expect(document.errors).toEqual([]);
  });

  it('sets only variables that exist', () => {
    const ofPostgres = /^POSTGRES_/;
    const set = [...read(file).matchAll(/^\s+([A-Z][A-Z0-9_]{3,}): /gm)].map(([, name]) => name ?? '');
    expect(set.filter((name) => !known.includes(name) && !ofPostgres.test(name))).toEqual([]);
  });
});
