import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { LOADED_LATER } from '../../client/package.ts';
import { repositoryRoot } from '../../root.ts';

/** The source of the main entry. The tests bundle it with all its imports, as the package does. */
const ENTRY = join(repositoryRoot, 'libs/client/src/index.ts');

/** The limit for the whole main entry, in bytes. */
const MAX_GZIPPED = 25 * 1024;

it('the package exports its entry points for Node, browsers and files', () => {
  const manifest = JSON.parse(readFileSync(join(repositoryRoot, 'libs/client/package.json'), 'utf8'));
  expect(Object.keys(manifest.exports)).toEqual([
    '.',
    './node',
    './indexeddb',
    './bundle',
    './sodium',
    './package.json',
  ]);
});

it('the bundle without lazily loaded files stays below its size limit', async () => {
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    plugins: [LOADED_LATER],
    conditions: ['iss-source'],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    write: false,
  });
  const [file] = outputFiles;
  expect(gzipSync(file?.contents ?? '', { level: 9 }).length).toBeLessThanOrEqual(MAX_GZIPPED);
});

it('loading the bundle calls no function that edge workers refuse', async () => {
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    conditions: ['iss-source'],
    bundle: true,
    format: 'iife',
    globalName: 'client',
    platform: 'browser',
    target: 'es2022',
    write: false,
  });
  const asked: string[] = [];
  const refusing = (name: string): object =>
    new Proxy(() => undefined, {
      get: (_target, member) => refusing(`${name}.${String(member)}`),
      apply: () => void asked.push(name),
    });
  const names = ['fetch', 'crypto', 'setTimeout', 'setInterval', 'queueMicrotask', 'performance', 'navigator'];
  // Objects that a module may create while it is loaded.
  const context = createContext({
    ...Object.fromEntries(names.map((name) => [name, refusing(name)])),
    ...{ TextEncoder, TextDecoder, URL, AbortController, AbortSignal, Headers },
  });
  runInContext(outputFiles[0]?.text ?? '', context);
  expect(asked).toEqual([]);
  expect(runInContext('typeof client.IdentityState', context)).toBe('function');
});
