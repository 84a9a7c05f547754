import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ERROR_CODES } from '@iss/domain';
import { parseAllDocuments } from 'yaml';
import { repositoryRoot } from '../root.ts';

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');
const variablesOf = (text: string): string[] =>
  [...text.matchAll(/^\s*([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name ?? '');
const known = variablesOf(read('.env.example'));

it('every error code has a section', () => {
  const sections = [...read('docs/errors.md').matchAll(/^## (\w+)$/gm)].map(([, code]) => code);
  expect(sections.sort()).toEqual([...ERROR_CODES].sort());
});

it('the operations page names every variable that a process reads', () => {
  const operations = read('docs/operations.md');
  const development = ['DATA_DIR', 'IDP_PORT', 'INBOX_PORT', 'SEED'];
  const missing = known.filter((name) => !development.includes(name) && !operations.includes(`\`${name}\``));
  expect(missing).toEqual([]);
});

it.each(globSync('{README,CONTRIBUTING,docs/**/*}.md', { cwd: repositoryRoot }))(
  'links of %s lead somewhere',
  (page) => {
    const targets = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target]) => target ?? '');
    const broken = targets.filter((target) => !existsSync(join(repositoryRoot, dirname(page), target)));
    expect(broken).toEqual([]);
  },
);

describe.each(globSync('docker/{compose.yaml,k8s/*.yaml}', { cwd: repositoryRoot }))('%s', (file) => {
  it('is YAML', () => {
    for (const document of parseAllDocuments(read(file), { merge: true })) expect(document.errors).toEqual([]);
  });

  it('sets variables that exist only', () => {
    const ofPostgres = /^POSTGRES_/;
    const set = [...read(file).matchAll(/^\s+([A-Z][A-Z0-9_]{3,}): /gm)].map(([, name]) => name ?? '');
    expect(set.filter((name) => !known.includes(name) && !ofPostgres.test(name))).toEqual([]);
  });
});
