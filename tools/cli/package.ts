import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import type { Addresses } from '../release/addresses.ts';
import { repositoryRoot } from '../root.ts';

const CLI = join(repositoryRoot, 'apps/cli');
/** The oldest version that Commander supports. */
const OLDEST_NODE = '22.12';

/**
 * Makes the published package of `iss` in a folder: one file that needs no other package, and the licences of its contents. The
 * commands that work on a database are only in the image, for operators. A package that is published has addresses; one for tests may have none.
 */
export async function makePackage(folder: string, addresses: Addresses | null = null): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'iss.cjs');
  const { metafile } = await build({
    entryPoints: [join(CLI, 'src/main.ts')],
    outfile: file,
    bundle: true,
    // This format loads the modules of Node on demand, which halves the start time.
    format: 'cjs',
    platform: 'node',
    target: `node${OLDEST_NODE}`,
    conditions: ['iss-source'],
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    banner: { js: '#!/usr/bin/env node' },
    plugins: [
      {
        name: 'without the commands of operators',
        setup({ onLoad }) {
          onLoad({ filter: /[\\/]apps[\\/]cli[\\/]src[\\/]operators\.ts$/ }, () => ({
            contents: 'export const OPERATORS_COMMANDS = {};',
          }));
        },
      },
    ],
  });
  chmodSync(file, 0o755);
  const { version, license } = JSON.parse(readFileSync(join(CLI, 'package.json'), 'utf8'));
  const manifest = {
    name: '@identity-state/cli',
    version,
    license,
    description: 'iss: the Identity State Service on a command line, verified',
    ...addresses,
    engines: { node: `>=${OLDEST_NODE}` },
    bin: { iss: 'iss.cjs' },
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES'), licencesOf(metafile));
  cpSync(join(repositoryRoot, 'LICENSE'), join(folder, 'LICENSE'));
  cpSync(join(CLI, 'README.md'), join(folder, 'README.md'));
}

/** The licences of the packages whose code is in the file. @throws Error for a package without one */
function licencesOf({ inputs }: Metafile): string {
  const found = Object.keys(inputs).map((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  const packages = [...new Set(found)].filter((path) => path !== undefined).sort();
  return packages.map((path) => `${path.replace(/^.*node_modules\//, '')}\n\n${licenceIn(path)}`).join('\n\n---\n\n');
}

function licenceIn(path: string): string {
  const folder = join(repositoryRoot, path);
  const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying)/i.test(name));
  if (file !== undefined) return readFileSync(join(folder, file), 'utf8').trim();
  const manifest = join(folder, 'package.json');
  const { license }: { license?: string } = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : {};
  if (license === undefined) throw new Error(`${path} has no licence.`);
  return `Licence: ${license}`;
}
