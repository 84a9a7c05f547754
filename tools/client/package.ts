import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';
import { repositoryRoot } from '../root.ts';

const CLIENT = join(repositoryRoot, 'libs/client');
const ENTRIES = ['index', 'node', 'indexeddb', 'bundle'] as const;

/**
 * Makes the published package in a folder: one file per entry that needs no other package, and the types from `tsc -b`.
 */
export async function makePackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await build({
    entryPoints: ENTRIES.map((entry) => join(CLIENT, 'src', `${entry}.ts`)),
    outdir: folder,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    external: ['node:*'],
    conditions: ['iss-source'],
    legalComments: 'none',
    logLevel: 'warning',
  });
  for (const types of reachableTypes()) {
    const from = join(CLIENT, 'dist', types);
    const to = join(folder, types);
    mkdirSync(dirname(to), { recursive: true });
    // Compilers before 5.7 do not accept these endings in declarations.
    const text = readFileSync(from, 'utf8').replace(/(from '\.[^']*)\.ts'/g, "$1.js'");
    writeFileSync(to, text.replace(/^\/\/# sourceMappingURL=.*$/m, ''));
  }
  const { name, version, license, description } = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8'));
  const entryOf = (entry: string): object => ({ types: `./${entry}.d.ts`, default: `./${entry}.js` });
  const manifest = {
    ...{ name, version, license, description },
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    exports: {
      '.': entryOf('index'),
      './node': entryOf('node'),
      './indexeddb': entryOf('indexeddb'),
      './bundle': entryOf('bundle'),
      './package.json': './package.json',
    },
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(repositoryRoot, 'LICENSE'), join(folder, 'LICENSE'));
  cpSync(join(CLIENT, 'README.md'), join(folder, 'README.md'));
}

/** Returns the declarations that the entries import. @throws Error for an import from outside the package */
function reachableTypes(): Set<string> {
  const dist = join(CLIENT, 'dist');
  const reached = new Set<string>();
  const visit = (file: string): void => {
    const name = relative(dist, file);
    if (reached.has(name)) return;
    reached.add(name);
    for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(/from '([^']+)'/g)) {
      if (specifier.startsWith('.')) visit(join(dirname(file), specifier.replace(/\.ts$/, '.d.ts')));
      else if (!specifier.startsWith('node:')) throw new Error(`The types of ${name} lead to ${specifier}.`);
    }
  };
  for (const entry of ENTRIES) visit(join(dist, `${entry}.d.ts`));
  return reached;
}
