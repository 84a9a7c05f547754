import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import type { Addresses } from '../release/addresses.ts';
import { repositoryRoot } from '../root.ts';

const LIBS = join(repositoryRoot, 'libs');
const CLIENT = join(LIBS, 'client');
const ENTRIES = ['index', 'node', 'indexeddb', 'bundle', 'sodium'] as const;

/** A package that only the entry `sodium` imports. */
const SODIUM = 'libsodium-wrappers-sumo';

/** Files that the main file loads when it needs them. */
const LATER = ['map', 'policy', 'view'] as const;

/** Leaves out files that are loaded later. */
export const LOADED_LATER: Plugin = {
  name: 'loaded later',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/\w+\.ts$/ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path: path.replace(/ts$/, 'js'), external: true } : undefined,
    );
  },
};

/**
 * Makes the published package in a folder: one file per entry that needs no other package, and the types from `tsc -b`.
 * A package that is published has addresses; one for tests may have none.
 */
export async function makePackage(folder: string, addresses: Addresses | null = null): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await build({
    entryPoints: [...ENTRIES, ...LATER.map((name) => `verify/${name}`)].map((entry) =>
      join(CLIENT, 'src', `${entry}.ts`),
    ),
    outdir: folder,
    entryNames: '[name]',
    plugins: [LOADED_LATER],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    external: ['node:*', SODIUM],
    conditions: ['iss-source'],
    legalComments: 'none',
    logLevel: 'warning',
  });
  for (const [name, text] of packedTypes()) {
    const to = join(folder, name);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, text);
  }
  const { name, version, license, description } = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8'));
  const { dependencies } = JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8'));
  const entryOf = (entry: string): object => ({ types: `./${entry}.d.ts`, default: `./${entry}.js` });
  const manifest = {
    ...{ name, version, license, description, ...addresses },
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    exports: {
      '.': entryOf('index'),
      './node': entryOf('node'),
      './indexeddb': entryOf('indexeddb'),
      './bundle': entryOf('bundle'),
      './sodium': entryOf('sodium'),
      './package.json': './package.json',
    },
    peerDependencies: { [SODIUM]: `^${dependencies[SODIUM]}` },
    peerDependenciesMeta: { [SODIUM]: { optional: true } },
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(repositoryRoot, 'LICENSE'), join(folder, 'LICENSE'));
  cpSync(join(CLIENT, 'README.md'), join(folder, 'README.md'));
}

const IMPORT = /(from |import\()(['"])([^'"]+)\2/g;

/**
 * Returns the declarations that the entries import, by their name in the package. Those of the bundled libraries are in `libs`.
 *
 * @throws Error for an import of another package
 */
function packedTypes(): Map<string, string> {
  const packed = new Map<string, string>();
  const visit = (file: string): string => {
    const packedName = join('libs', relative(LIBS, file).replace('/dist/', '/')).replace(/^libs\/client\//, '');
    if (packed.has(packedName)) return packedName;
    packed.set(packedName, '');
    const text = readFileSync(file, 'utf8').replace(
      IMPORT,
      (whole, before: string, quote: string, specifier: string) => {
        if (specifier.startsWith('node:')) return whole;
        const target = relative(dirname(packedName), visit(declarationOf(file, specifier))).replace(/\.d\.ts$/, '.js');
        return `${before}${quote}${target.startsWith('.') ? target : `./${target}`}${quote}`;
      },
    );
    packed.set(packedName, text.replace(/^\/\/# sourceMappingURL=.*$/m, ''));
    return packedName;
  };
  for (const entry of ENTRIES) visit(join(CLIENT, 'dist', `${entry}.d.ts`));
  return packed;
}

/** Returns the file that an import of a declaration leads to. @throws Error for another package */
function declarationOf(file: string, specifier: string): string {
  if (specifier.startsWith('.')) return `${join(dirname(file), specifier.replace(/\.ts$/, ''))}.d.ts`;
  const [, lib, entry] = /^@iss\/([a-z]+)(?:\/([a-z]+))?$/.exec(specifier) ?? [];
  if (lib === undefined) throw new Error(`The types of ${file} lead to ${specifier}.`);
  const { exports } = JSON.parse(readFileSync(join(LIBS, lib, 'package.json'), 'utf8'));
  return join(LIBS, lib, exports[entry === undefined ? '.' : `./${entry}`].types);
}
