import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../root.ts';

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');
const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, group]) => group ?? '');

it('docs/operations/observability.md names every figure of both processes and no other', () => {
  const sources = [
    'apps/webhook-worker/src/health/worker-metrics',
    'apps/api-gateway/src/http/answer/access-log',
    'apps/api-gateway/src/http/errors/error.filter',
    'libs/platform/src/metrics',
  ];
  const figures = matches(sources.map((name) => read(`${name}.ts`)).join('\n'), /'((?:webhook|http)_[a-z_]+)'/g);
  const named = new Set(matches(read('docs/operations/observability.md'), /^\| `((?:webhook|http)_[a-z_]+)`/gm));
  expect([...named].sort()).toEqual(figures.sort());
});
