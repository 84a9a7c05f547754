import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../root.ts';

const EXPORT = /^export (?:abstract |async )*(?:const|function\*?|class|interface|type) (\w+)/gm;
/** Modules whose exports are collected without their names: commands of the CLI, and the generated client. */
const COLLECTED = /^apps\/cli\/src\/commands\/|\/generated\//;
/** Nx and Stryker load these by their names. */
const LOADED = ['createNodesV2', 'strykerPlugins'];

const files = globSync('{apps,libs,tools,bench}/**/*.{ts,tsx,mjs}', {
  cwd: repositoryRoot,
  exclude: (path) => /(?:^|\/)(?:node_modules|dist)$/.test(path),
}).map((path) => ({ path, text: readFileSync(join(repositoryRoot, path), 'utf8') }));

it('every exported name has a use', () => {
  const uses = new Map<string, number>();
  for (const { text } of files) {
    for (const [name] of text.matchAll(/\w+/g)) uses.set(name, (uses.get(name) ?? 0) + 1);
  }
  const unused = files
    .filter(({ path }) => !COLLECTED.test(path))
    .flatMap(({ path, text }) => [...text.matchAll(EXPORT)].map(([, name = '']) => ({ path, name })))
    .filter(({ name }) => uses.get(name) === 1 && !LOADED.includes(name));
  expect(unused).toEqual([]);
});
